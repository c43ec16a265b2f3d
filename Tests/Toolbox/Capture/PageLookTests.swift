import HTTPDNS
import HTTPDNSJSON
import TestSupport
import Testing

@testable import HTTPDNSCapture

/// What somebody who opens the page sees of it, at the widths of usual windows.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Chromium.isThere)) struct PageLookTests {
    private static let hosts = ["api.example.test", "img.example.test", "cdn.other.example"]

    /// Of every kind, over ten minutes with long times of nothing.
    static var records: [CaptureRecord] {
        let start = CaptureTime(microsecondsSince1970: 1_800_000_000_000_000)
        let kinds: [CaptureRecord.Kind] = [.exchange, .stubbed, .blocked, .cached, .exchange]
        return (0..<15).map { place in
            let at = start.adding(milliseconds: Double(place) * 120 + Double(place / 5) * 300_000)
            var record = CaptureRecord.sample(
                "/v1/\(place)/block", host: hosts[place % 3], startedAt: at)
            record.id = Int64(place) + 1
            record.kind = kinds[place % 5]
            record.totalMilliseconds = 90
            record.hops[0].resolveMilliseconds = 5
            record.hops[0].timings.connected = 20
            record.hops[0].timings.secured = 50
            record.hops[0].timings.firstByte = 70
            record.hops[0].timings.total = 85
            switch place % 5 {
            case 1: record.rule = "test data"
            case 2:
                record.hops[0].status = nil
                record.failure = .init(label: "blocked", message: "a rule refused it")
                record.rule = "no trackers of whatever kind, and a long name for that"
            case 4:
                record.hops[0].mappedFrom = "https://live.example.test/v1/\(place)"
                record.hops[0].status = 302
                var next = record.hops[0]
                next.mappedFrom = nil
                next.url = "https://cdn.other.example/big"
                next.status = 404
                record.hops.append(next)
            default: break
            }
            return record
        }
    }

    /// Looks at the page in a frame, as a user does, and puts what it sees into the title.
    private static let eyes = """
        addEventListener("load",()=>{const w=document.querySelector("iframe").contentWindow,
        d=w.document,rows=()=>[...d.querySelectorAll("#list tbody tr")],seen={},
        box=e=>e.getBoundingClientRect(),cut=e=>e.scrollWidth>e.clientWidth+1||
          e.scrollHeight>e.clientHeight+1;
        seen.rows=rows().length;
        seen.cutURLs=rows().filter(r=>cut(r.querySelector(".l"))).length;
        const tags=[...d.querySelectorAll("#list .tag")];
        seen.tags=tags.length;
        seen.cutTags=tags.filter(t=>cut(t)||!t.textContent||box(t).width<20||
          box(t).right>box(t.closest("td")).right+1).length;
        seen.cutStatus=rows().filter(r=>[1,2,3,5,6].some(i=>cut(r.cells[i]))).length;
        const first=r=>box(r.querySelector("svg rect")).left;
        seen.thin=[...d.querySelectorAll("#list svg rect")].filter(b=>box(b).width<0.8).length;
        seen.barless=rows().filter(r=>!r.querySelector("svg rect")).length;
        seen.disorder=rows().filter((r,i,all)=>i>0&&first(r)<first(all[i-1])-0.01).length;
        const svg=box(d.querySelector("#list svg"));
        seen.covered=Math.round(100*(Math.max(...[...d.querySelectorAll("#list svg rect")]
          .map(b=>box(b).right))-first(rows()[0]))/svg.width);
        seen.barShare=Math.round(100*rows().reduce((n,r)=>n+[...r.querySelectorAll("svg rect")]
          .reduce((m,b)=>m+box(b).width,0),0)/svg.width);
        seen.urlIsWidest=box(rows()[0].cells[4]).width>box(rows()[0].cells[7]).width;
        seen.wider=d.documentElement.scrollWidth>w.innerWidth;
        const set=(id,value)=>{const e=d.getElementById(id);e.value=value;
          e.dispatchEvent(new w.Event("input",{bubbles:true}));const n=rows().length;
          e.value="";e.dispatchEvent(new w.Event("input",{bubbles:true}));return n};
        seen.byHost=set("host","img.example.test");seen.byHop=set("host","cdn.other.example");
        seen.byMapped=set("host","live.example.test");
        seen.failed=set("status","failed");seen.stubs=set("kind","stubbed");
        seen.found=set("search","test DATA");seen.none=set("search","nowhere to be found");
        seen.after=rows().length;
        rows()[0].click();
        seen.statuses=[...d.querySelectorAll("#detail dt")].filter(t=>t.textContent==="status")
          .length;
        seen.open=!d.getElementById("detail").hidden;
        document.title=JSON.stringify(seen)})
        """

    @Test(arguments: [1_000, 1_280, 1_600])
    func `everything can be read, and filters act`(width: Int) async throws {
        let directory = try TemporaryDirectory()
        let page = String(
            decoding: CapturePage.page(PageLookTests.records, title: "page"), as: UTF8.self)
        _ = try directory.write("page.html", page)
        let frame = try directory.write(
            "frame.html",
            "<iframe src=\"page.html\" style=\"width:\(width)px;height:900px;border:0\"></iframe>"
                + "<script>\(PageLookTests.eyes)</script>")
        let dom = try await Chromium.dom(
            of: "file://\(frame)", in: directory, flags: ["--allow-file-access-from-files"])
        let title = try #require(dom.firstMatch(of: /<title>(.*?)<\/title>/)?.1)
        let seen = try JSONValue.parse(String(title))
        func number(_ name: String) -> Int64? { seen[name]?.integer }
        #expect(number("rows") == 15, "\(title)")
        #expect(number("cutURLs") == 0 && number("cutStatus") == 0, "\(title)")
        #expect(number("tags") == 21 && number("cutTags") == 0, "\(title)")
        #expect(number("thin") == 0 && number("barless") == 0, "\(title)")
        #expect(number("disorder") == 0, "\(title)")
        #expect((number("covered") ?? 0) > 90, "\(title)")
        // Fifteen of 90 ms with pauses of 30: together most of the width, whatever lay between.
        #expect((number("barShare") ?? 0) > 50, "\(title)")
        #expect(seen["urlIsWidest"]?.bool == true && seen["wider"]?.bool == false, "\(title)")
        #expect(number("byHost") == 5 && number("byHop") == 7, "\(title)")
        #expect(number("byMapped") == 3 && number("failed") == 6, "\(title)")
        #expect(number("stubs") == 3 && number("found") == 3, "\(title)")
        #expect(number("none") == 0 && number("after") == 15, "\(title)")
        #expect(number("statuses") == 1 && seen["open"]?.bool == true, "\(title)")
    }

    @Test func `a picture of it shows something`() async throws {
        let directory = try TemporaryDirectory()
        let page = try directory.write(
            "page.html",
            String(
                decoding: CapturePage.page(PageLookTests.records, title: "page"), as: UTF8.self))
        let picture = directory.path + "/page.png"
        _ = try await Chromium.dom(
            of: "file://\(page)", in: directory,
            flags: ["--screenshot=\(picture)", "--window-size=1280,900"], dumps: false)
        let frame = try directory.write(
            "frame.html",
            """
            <img src="page.png"><script>addEventListener("load",()=>{
            const i=document.querySelector("img"),c=document.createElement("canvas");
            c.width=i.naturalWidth;c.height=i.naturalHeight;const x=c.getContext("2d");
            x.drawImage(i,0,0);const p=x.getImageData(0,0,c.width,c.height).data,seen=new Set();
            let marked=0;for(let n=0;n<p.length;n+=4){const v=p[n]<<16|p[n+1]<<8|p[n+2];
              seen.add(v);if(v!==(p[0]<<16|p[1]<<8|p[2]))marked++}
            document.title=JSON.stringify({width:c.width,colours:seen.size,
              marked:Math.round(1000*marked/(p.length/4))})})</script>
            """)
        let dom = try await Chromium.dom(
            of: "file://\(frame)", in: directory, flags: ["--allow-file-access-from-files"])
        let title = try #require(dom.firstMatch(of: /<title>(.*?)<\/title>/)?.1)
        let seen = try JSONValue.parse(String(title))
        #expect(seen["width"]?.integer == 1_280, "\(title)")
        #expect((seen["colours"]?.integer ?? 0) > 50, "\(title)")
        #expect((seen["marked"]?.integer ?? 0) > 20, "\(title)")
    }
}
