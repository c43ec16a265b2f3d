extension CapturePage {
    /// The page's frame, without any data.
    static let frame = """
        <form id="filters">
        <label>Search <input id="search" type="search" placeholder="URL, header, body"></label>
        <label>Host <select id="host"><option value="">all</option></select></label>
        <label>Status <select id="status"><option value="">all</option>
        <option value="failed">failed</option><option value="2">2xx</option>
        <option value="3">3xx</option><option value="4">4xx</option>
        <option value="5">5xx</option></select></label>
        <label>Method <select id="method"><option value="">all</option></select></label>
        <label>Kind <select id="kind"><option value="">all</option></select></label>
        <label class="check"><input id="aligned" type="checkbox"> bars from the same start</label>
        </form>
        <p id="legend"><span class="resolve">resolve</span><span class="connect">connect</span>
        <span class="secure">TLS</span><span class="wait">wait</span>
        <span class="receive">receive</span>
        <em id="idle" hidden>times in which nothing runs are shortened</em></p>
        <main><table id="list"><thead><tr><th class="n">#</th><th>Time (UTC)</th><th>Method</th>
        <th>Status</th><th class="u">URL</th><th class="n">Took</th><th class="n">Down</th>
        <th class="w">Waterfall</th></tr></thead><tbody></tbody></table>
        <p id="none" hidden>No record fits.</p></main>
        <aside id="detail" hidden tabindex="-1" aria-label="details"></aside>
        """

    static let style = """
        :root{color-scheme:light dark;--text:#1c1e21;--quiet:#5d646d;--page:#fff;--panel:#f5f6f8;
        --line:#d9dde2;--chosen:#e3edfb;--bad:#b3261e;--good:#1b6b3a;--turn:#7a5200;
        --resolve:#7b5ea7;--connect:#c77700;--secure:#0f7b8a;--wait:#3b7d3b;--receive:#2f6fdb}
        @media(prefers-color-scheme:dark){:root{--text:#e6e8eb;--quiet:#9aa2ac;--page:#15171a;
        --panel:#1e2125;--line:#33383e;--chosen:#243246;--bad:#ff8a80;--good:#7fd39b;
        --turn:#f0c36d;--resolve:#a98bd6;--connect:#e9a23b;--secure:#4cb8c6;--wait:#6cb56c;
        --receive:#6f9ff0}}
        *{box-sizing:border-box}
        body{margin:0;font:14px/1.45 system-ui,sans-serif;color:var(--text);background:var(--page)}
        header{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline;padding:12px 16px 4px}
        h1{font-size:18px;margin:0;overflow-wrap:anywhere}
        header p{margin:0;color:var(--quiet)}
        #filters{display:flex;flex-wrap:wrap;gap:8px 14px;padding:8px 16px;align-items:center}
        label{color:var(--quiet);display:inline-flex;gap:6px;align-items:center}
        input,select{font:inherit;color:var(--text);background:var(--panel);
        border:1px solid var(--line);border-radius:4px;padding:4px 6px;max-width:260px}
        #legend{margin:0;padding:0 16px 8px;color:var(--quiet);font-size:12px}
        #legend span{margin-right:14px}
        #legend span::before{content:"";display:inline-block;width:10px;height:10px;
        margin-right:5px;border-radius:2px;background:currentColor}
        #legend .resolve::before{background:var(--resolve)}
        #legend .connect::before{background:var(--connect)}
        #legend .secure::before{background:var(--secure)}
        #legend .wait::before{background:var(--wait)}
        #legend .receive::before{background:var(--receive)}
        main{padding:0 16px 24px}
        table{width:100%;border-collapse:collapse;table-layout:fixed}
        th{position:sticky;top:0;background:var(--page);text-align:left;font-weight:600;
        color:var(--quiet);font-size:12px;z-index:1}
        th,td{padding:4px 8px;border-bottom:1px solid var(--line);overflow:hidden;
        text-overflow:ellipsis;white-space:nowrap}
        th:nth-child(1){width:50px}th:nth-child(2){width:118px}th:nth-child(3){width:82px}
        th:nth-child(4){width:150px}th:nth-child(6){width:76px}th:nth-child(7){width:64px}
        th.w{width:18%}
        td{vertical-align:top}
        .l{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;
        white-space:normal;overflow-wrap:anywhere}
        .t{display:flex;flex-wrap:wrap;gap:2px 6px;padding:2px 0}
        .n{text-align:right;font-variant-numeric:tabular-nums}
        tbody tr{cursor:pointer}
        tbody tr:hover{background:var(--panel)}
        tbody tr.chosen{background:var(--chosen)}
        tbody tr:focus-visible{outline:2px solid var(--receive);outline-offset:-2px}
        .bad{color:var(--bad)}.good{color:var(--good)}.turn{color:var(--turn)}
        .tag{font-size:11px;border:1px solid var(--line);border-radius:3px;padding:0 4px;
        color:var(--quiet);max-width:100%;white-space:normal;overflow-wrap:anywhere}
        .h{color:var(--quiet)}
        svg{display:block;width:100%;height:14px;margin-top:3px}
        .resolve{fill:var(--resolve)}.connect{fill:var(--connect)}.secure{fill:var(--secure)}
        .wait{fill:var(--wait)}.receive{fill:var(--receive)}.whole{fill:var(--quiet)}
        #detail{position:fixed;inset:0 0 0 auto;width:min(720px,100%);background:var(--page);
        border-left:1px solid var(--line);box-shadow:-8px 0 24px #0003;overflow:auto;padding:16px;
        z-index:2}
        #detail:focus{outline:none}
        #detail h2{font-size:15px;margin:0 40px 8px 0;overflow-wrap:anywhere}
        #detail h3{font-size:13px;margin:18px 0 6px;color:var(--quiet)}
        #detail dl{display:grid;grid-template-columns:minmax(96px,150px) 1fr;gap:2px 12px;margin:0}
        #detail dt{color:var(--quiet);overflow-wrap:anywhere}
        #detail dd{margin:0;overflow-wrap:anywhere}
        #detail pre{background:var(--panel);border:1px solid var(--line);border-radius:4px;
        padding:8px;margin:0;max-height:420px;overflow:auto;white-space:pre-wrap;
        overflow-wrap:anywhere;font:12px/1.5 ui-monospace,monospace}
        #close{position:absolute;top:10px;right:12px;font:inherit;border:1px solid var(--line);
        border-radius:4px;background:var(--panel);color:var(--text);padding:2px 10px;
        cursor:pointer}
        @media(max-width:720px){#list,#list tbody{display:block}
        #list thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
        #list tbody tr{display:grid;grid-template-columns:minmax(24px,auto) auto 1fr auto;
        gap:0 10px;padding:6px 4px;border-bottom:1px solid var(--line)}
        #list td{border:0;padding:0;overflow:visible;white-space:normal;overflow-wrap:anywhere}
        #list td:nth-child(2),#list td:nth-child(7),#list td.w{display:none}
        #list td:nth-child(6){grid-area:1/4}#list td.u{grid-area:2/1/3/-1}
        #filters label{flex:1 1 40%}#filters .check{display:none}
        input,select{max-width:none;flex:1;min-width:0}#legend{display:none}}
        """
}
