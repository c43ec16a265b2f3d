extension CapturePage {
    /// Shows data as text alone: it makes elements and text nodes, and never markup out of data.
    static let script = #"""
        "use strict";
        (function(){
        const records=JSON.parse(document.getElementById("data").textContent);
        const $=id=>document.getElementById(id);
        const el=(name,text,kind)=>{const e=document.createElement(name);
          if(text!==undefined&&text!==null)e.textContent=String(text);
          if(kind)e.className=kind;return e};
        const ms=v=>v===undefined||v===null?"-":v<1?v.toFixed(2)+" ms":v<1000?
          (v<100?v.toFixed(1):v.toFixed(0))+" ms":(v/1000).toFixed(2)+" s";
        const size=n=>{if(!n)return"0";const u=["","k","M","G","T"];let i=0;
          while(n>=999.5&&i<4){n/=1000;i++}return(i&&n<9.95?n.toFixed(1):Math.round(n))+u[i]};
        const failed=r=>Boolean(r.failure)||(r.status||0)>=400;
        const cached=r=>r.kind==="cached"||r.hops.some(h=>["hit","stale","validated"]
          .includes(h.cache));
        const start=r=>Date.parse(r.started);
        // What was under way when a hop failed.
        const open=h=>{const t=h.timings||{};
          if(h.status||t.firstByte)return"receive";
          if(h.reused||t.sent||t.secured||h.peer)return"wait";
          if(t.connected)return/^https:/i.test(h.url)?"secure":"wait";
          if(h.resolution||h.proxy)return"connect";
          return h.resolveMilliseconds?"resolve":"wait"};
        // Each hop: [begin, length, kind], in milliseconds from the start of the record.
        function phases(r){
          const bars=[];let at=0;
          r.hops.forEach((h,i)=>{
            const t=h.timings||{};const begin=at+(h.resolveMilliseconds||0);
            const broken=r.failure&&i===r.hops.length-1;
            if(h.resolveMilliseconds)bars.push([at,h.resolveMilliseconds,"resolve"]);
            const known=begin+(t.total||t.firstByte||t.secured||t.connected||0);
            const end=broken?Math.max(known,r.milliseconds||0):known;
            let from=begin;
            if(!h.reused){
              if(t.connected){bars.push([from,t.connected,"connect"]);from=begin+t.connected}
              if(t.secured&&t.secured>(t.connected||0)){
                bars.push([from,begin+t.secured-from,"secure"]);from=begin+t.secured}}
            if(t.firstByte){const first=begin+t.firstByte;
              if(first>from)bars.push([from,first-from,"wait"]);from=Math.max(from,first)}
            if(end>from)bars.push([from,end-from,broken?open(h):"receive"]);
            at=end});
          if(!bars.length&&r.milliseconds)bars.push([0,r.milliseconds,"whole"]);
          return bars}
        function fill(select,values){
          for(const v of[...new Set(values)].sort()){const o=el("option",v);o.value=v;
            select.append(o)}}
        // Of all hops, and of what rules mapped to them.
        const named=u=>{const m=/^[a-z]+:\/\/(?:[^\/?#]*@)?(\[[^\]]*\]|[^\/?#:]*)/i.exec(u||"");
          return m?m[1].toLowerCase():""};
        const hosts=new Map(records.map(r=>[r,new Set([r.host,...r.hops.flatMap(h=>
          [named(h.url),named(h.mappedFrom)])].filter(Boolean))]));
        fill($("host"),records.flatMap(r=>[...hosts.get(r)]));
        fill($("method"),records.map(r=>r.method).filter(Boolean));
        fill($("kind"),records.map(r=>r.kind));
        const texts=new Map();
        const text=r=>{let t=texts.get(r);
          if(t===undefined){t=JSON.stringify(r).toLowerCase();texts.set(r,t)}return t};
        function wanted(){
          const q=$("search").value.trim().toLowerCase(),h=$("host").value,
            s=$("status").value,m=$("method").value,k=$("kind").value;
          return records.filter(r=>(!h||hosts.get(r).has(h))&&(!m||r.method===m)&&(!k||r.kind===k)&&
            (!s||(s==="failed"?failed(r):String(r.status||"")[0]===s))&&(!q||text(r).includes(q)))}
        const NS="http://www.w3.org/2000/svg";
        // Where a moment stands, 0...1000: long times in which nothing runs are shortened.
        function scale(list,lasts){
          const runs=list.map((r,i)=>[start(r),start(r)+lasts[i]]).sort((a,b)=>a[0]-b[0]);
          const busy=[];
          for(const[from,to]of runs){const last=busy[busy.length-1];
            if(last&&from<=last.to)last.to=Math.max(last.to,to);else busy.push({from,to})}
          const most=Math.max(1,busy.reduce((n,b)=>n+b.to-b.from,0)/20);
          let at=0,before=null,shortened=false;
          for(const b of busy){
            if(before!==null){const gap=b.from-before;
              if(gap>most)shortened=true;at+=Math.min(gap,most)}
            b.at=at;at+=b.to-b.from;before=b.to}
          const span=Math.max(1,at);
          const place=t=>{let low=0,high=busy.length-1;
            while(low<high){const middle=(low+high+1)>>1;
              if(busy[middle].from<=t)low=middle;else high=middle-1}
            const b=busy[low];return b?(b.at+t-b.from)/span*1000:0};
          return{place,shortened}}
        const LEAST=6;
        function bar(r,place){
          const svg=document.createElementNS(NS,"svg");
          svg.setAttribute("viewBox","0 0 1000 14");svg.setAttribute("preserveAspectRatio","none");
          for(const[at,length,kind]of phases(r)){
            const rect=document.createElementNS(NS,"rect");
            const x=Math.min(1000-LEAST,place(at));
            rect.setAttribute("x",x.toFixed(2));rect.setAttribute("y","2");
            rect.setAttribute("height","10");
            rect.setAttribute("width",Math.max(LEAST,place(at+length)-x).toFixed(2));
            rect.setAttribute("class",kind);
            const title=document.createElementNS(NS,"title");
            title.textContent=kind+" "+ms(length);rect.append(title);svg.append(rect)}
          return svg}
        let chosen=null;
        function row(r,place){
          const tr=el("tr");tr.tabIndex=0;
          const status=r.failure?r.failure.label:r.status===undefined?r.kind:r.status;
          const kind=failed(r)?"bad":(r.status||0)>=300?"turn":r.status?"good":"";
          const url=el("td",null,"u"),line=el("div",null,"l"),tags=el("div",null,"t");
          url.title=r.url;
          const cut=/^[a-z]+:\/\/([^\/?#]*)(.*)$/i.exec(r.url);
          if(cut)line.append(el("span",cut[1],"h"),el("span",cut[2]||"/"));
          else line.append(el("span",r.url||"-"));
          url.append(line);
          const tag=words=>tags.append(el("span",words,"tag"));
          if(r.kind!=="exchange")tag(r.kind);
          if(cached(r)&&r.kind!=="cached")tag("cached");
          if(r.hops.length>1)tag(r.hops.length-1+(r.hops.length>2?" redirects":" redirect"));
          if(r.rule)tag("rule "+r.rule);
          if(r.hops[0]&&r.hops[0].mappedFrom)tag("asked for "+r.hops[0].mappedFrom);
          if(tags.childElementCount)url.append(tags);
          const w=el("td",null,"w");w.append(bar(r,place));
          tr.append(el("td",r.id,"n"),el("td",r.started.slice(11,23)),el("td",r.method),
            el("td",status,kind),url,el("td",ms(r.milliseconds),"n"),
            el("td",size(r.receivedOctets),"n"),w);
          const open=()=>{if(chosen)chosen.classList.remove("chosen");
            chosen=tr;tr.classList.add("chosen");detail(r)};
          tr.addEventListener("click",open);
          tr.addEventListener("keydown",e=>{if(e.key==="Enter"||e.key===" "){
            e.preventDefault();open()}});
          return tr}
        function show(){
          const list=wanted(),body=document.querySelector("#list tbody");
          const lasts=list.map(r=>Math.max(r.milliseconds||0,
            ...phases(r).map(([a,l])=>a+l)));
          const aligned=$("aligned").checked;
          const longest=lasts.reduce((n,l)=>Math.max(n,l),1);
          const{place,shortened}=scale(list,lasts);
          const rows=document.createDocumentFragment();
          for(const r of list)rows.append(row(r,aligned?at=>at/longest*1000
            :at=>place(start(r)+at)));
          body.replaceChildren(rows);
          $("idle").hidden=aligned||!shortened;
          $("none").hidden=list.length>0;
          const bad=list.filter(failed).length;
          const down=list.reduce((n,r)=>n+(r.receivedOctets||0),0);
          const up=list.reduce((n,r)=>n+(r.sentOctets||0),0);
          $("sum").textContent=list.length+" of "+records.length+" requests, "+bad+
            " failed, "+size(up)+" up, "+size(down)+" down"}
        function facts(list){
          const dl=el("dl");
          for(const[name,value]of list){
            if(value===undefined||value===null||value==="")continue;
            dl.append(el("dt",name),el("dd",value))}
          return dl}
        const fields=list=>facts((list||[]).map(([n,v])=>[n,v===""?" ":v]));
        function section(box,title,content){
          if(!content||(content.tagName==="DL"&&!content.childElementCount))return;
          box.append(el("h3",title),content)}
        function body(box,title,facts,words,base64){
          if(!facts&&!words&&!base64)return;
          const told=facts?facts.octets+" octets"+(facts.omission?", kept "+facts.kept+" ("+
            facts.omission+")":""):"";
          box.append(el("h3",title+(told?": "+told:"")));
          if(words!==undefined)box.append(el("pre",pretty(words)));
          else if(base64)box.append(el("p","no text: "+Math.floor(base64.length*3/4)+
            " octets are kept"))}
        function pretty(words){
          const t=words.trimStart();
          if(t[0]!=="{"&&t[0]!=="[")return words;
          try{return JSON.stringify(JSON.parse(words),null,2)}catch(e){return words}}
        const tried=list=>facts((list||[]).map(a=>[a.at||a.label,a.label+": "+a.message]));
        function hop(box,h,i,n){
          const mark=n>1?"Hop "+(i+1)+" of "+n+": ":"";
          const r=h.resolution||{},p=h.peer,t=h.timings||{};
          section(box,mark+"Address",facts([["URL",n>1?h.method+" "+h.url:null],
            ["mapped from",h.mappedFrom],["status",n>1?h.status:null],
            ["status text",h.statusText],
            ["resolver",r.resolver],["transport",r.transport],
            ["server",r.server],["addresses",(r.addresses||[]).join(", ")],
            ["aliases",(r.aliases||[]).join(", ")],
            ["TTL",r.ttl===undefined?null:r.ttl+" s"+(r.cached?", from the cache":"")+
              (r.stale?", stale":"")],
            ["connected to",h.remote],["proxy",h.proxy],
            ["connection",[h.connection,h.reused?"reused":"new",h.tls,h.resumed?"resumed":""]
              .filter(Boolean).join(", ")],
            ["protocol",h.version?"HTTP/"+h.version:null],["cache",h.cache],
            ["not followed",h.notFollowed],
            ["system asked",h.systemFallback]]));
          section(box,mark+"Tried in vain",tried([...(h.resolverFailures||[]),
            ...(r.attempts||[]),...(h.attempts||[])]));
          if(p)section(box,mark+"Proof",facts([["name",p.matchedName],["subject",p.subject],
            ["issuer",p.issuer],["valid until",p.notAfter],["pins",p.pinning],["pin",p.pin]]));
          section(box,mark+"Times",facts([["resolve",h.resolveMilliseconds===undefined?null:
            ms(h.resolveMilliseconds)],["connected",t.connected&&ms(t.connected)],
            ["secured",t.secured&&ms(t.secured)],["first octet",t.firstByte&&ms(t.firstByte)],
            ["total",t.total&&ms(t.total)],["octets up",h.sentOctets],
            ["octets down",h.receivedOctets]]));
          section(box,mark+"Request head",fields(h.requestHeaders));
          section(box,mark+"Response head",fields(h.responseHeaders))}
        function detail(r){
          const box=$("detail"),close=el("button","Close");close.id="close";close.type="button";
          close.addEventListener("click",hide);
          box.replaceChildren(close,el("h2",r.method+" "+r.url));
          box.append(facts([["status",r.status],["kind",r.kind],["rule",r.rule],
            ["reason",r.reason],["started",r.started],["took",ms(r.milliseconds)],
            ["initiator",(r.initiator||"")+(r.task===undefined?"":", task "+r.task)]]));
          if(r.failure)section(box,"Failure: "+r.failure.label,el("pre",r.failure.message));
          r.hops.forEach((h,i)=>hop(box,h,i,r.hops.length));
          body(box,"Request body",r.requestBody,r.requestText,r.requestBase64);
          body(box,"Response body",r.responseBody,r.responseText,r.responseBase64);
          box.hidden=false;box.scrollTop=0;box.focus()}
        function hide(){$("detail").hidden=true;
          if(chosen){chosen.classList.remove("chosen");chosen.focus()}chosen=null}
        document.addEventListener("keydown",e=>{if(e.key==="Escape"&&!$("detail").hidden)hide()});
        $("filters").addEventListener("submit",e=>e.preventDefault());
        for(const id of["search","host","status","method","kind","aligned"])
          $(id).addEventListener("input",show);
        show();
        const wants=/^#record=(\d+)$/.exec(location.hash);
        if(wants){const place=records.findIndex(r=>String(r.id)===wants[1]);
          if(place>=0)document.querySelectorAll("#list tbody tr")[place].click()}
        })();
        """#
}
