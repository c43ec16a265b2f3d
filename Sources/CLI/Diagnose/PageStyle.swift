/// How the page looks: one column, readable from a phone's width on, light and dark, and in print.
/// States have a word and a sign besides their colour.
enum PageStyle {
    static let text: StaticString = """
        :root{--page:#fff;--text:#1b1b1f;--soft:#55555e;--line:#d6d6de;--panel:#f6f6f9;
        --good:#0a5c2b;--goodback:#e2f4e7;--bad:#8f1010;--badback:#fde8e6;
        --unclear:#664500;--unclearback:#fff2d2;--none:#4d4d57;--noneback:#ececf1}
        @media (prefers-color-scheme:dark){:root{--page:#15151a;--text:#ececf1;--soft:#aeaebb;
        --line:#3a3a45;--panel:#1e1e25;--good:#9be3b0;--goodback:#143222;--bad:#ffb4ab;
        --badback:#45171a;--unclear:#f5d27d;--unclearback:#3a2f10;--none:#c4c4d0;
        --noneback:#2a2a33}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:70rem;padding:1rem;background:var(--page);color:var(--text);
        font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
        h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}h2{font-size:1.2rem;
        margin:2rem 0 .5rem}
        h3{font-size:1rem;margin:1.25rem 0 .25rem}p,ul,ol,dl{margin:.5rem 0}
        ul,ol{padding-left:1.25rem}
        .verdict{border:1px solid var(--line);border-left:.5rem solid;border-radius:.5rem;
        padding:1rem;margin:0 0 1rem}
        .verdict p{margin:.25rem 0}.soft{color:var(--soft);font-size:.9rem}
        .good{color:var(--good);background:var(--goodback)}.bad{color:var(--bad);
        background:var(--badback)}
        .unclear{color:var(--unclear);background:var(--unclearback)}
        .none{color:var(--none);background:var(--noneback)}
        .pill{display:inline-block;border-radius:.35rem;padding:0 .45rem;font-weight:600;
        white-space:nowrap}
        .wide{overflow-x:auto;border:1px solid var(--line);border-radius:.5rem}
        .wide:focus-visible{outline:3px solid}
        table{border-collapse:collapse;width:100%;font-size:.92rem;overflow-wrap:break-word}
        caption{text-align:left;padding:.5rem .6rem;color:var(--soft)}
        th,td{padding:.4rem .6rem;border-top:1px solid var(--line);text-align:left;
        vertical-align:top}
        thead th{background:var(--panel)}th[scope=row]{font-weight:600;min-width:9rem}
        .picture th[scope=col],.picture td{min-width:8rem}
        .picture th[scope=row]{position:sticky;left:0;background:var(--page);max-width:20rem}
        .layers th[scope=row]{min-width:5rem;white-space:nowrap}.layers td{overflow-wrap:anywhere}
        .timeline{min-width:38rem}.timeline th[scope=row]{width:30%}
        .timeline td:nth-child(2){width:30%}.timeline td:nth-child(3){white-space:nowrap}
        .mono,pre,code{font-family:ui-monospace,monospace;font-size:.85rem}
        pre{white-space:pre-wrap;background:var(--panel);padding:.75rem;border-radius:.5rem;
        margin:.5rem 0}
        .bar{width:100%;min-width:8rem;height:1rem;display:block;background:var(--panel)}
        .bar rect.good{fill:var(--good)}.bar rect.bad{fill:var(--bad)}
        .bar rect.unclear{fill:var(--unclear)}.bar rect.none{fill:var(--none)}
        .chain{border-left:3px solid var(--line);padding-left:.75rem;margin:.5rem 0;list-style:none}
        .chain li{margin:.5rem 0}
        details{margin:.5rem 0;border:1px solid var(--line);border-radius:.5rem;
        padding:.5rem .75rem}
        summary{cursor:pointer;font-weight:600}
        footer{margin-top:2rem;border-top:1px solid var(--line);padding-top:.5rem}
        @media screen and (max-width:44rem){.stacked{min-width:0}
        .stacked,.stacked caption,.stacked tbody,.stacked tr,.stacked th,.stacked td{display:block}
        .stacked thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
        .stacked tr{border-top:1px solid var(--line);padding:.4rem 0}
        .stacked th[scope=row],.stacked td,.stacked td:nth-child(2){border:0;width:auto;min-width:0;
        max-width:none;padding:.1rem .6rem;position:static;overflow-wrap:anywhere}
        .stacked td:empty{display:none}
        .stacked td::before{content:attr(data-label) ": ";color:var(--soft)}}
        @media print{body{max-width:none;padding:0;font-size:10pt}.wide{overflow:visible}
        .pill,.verdict,rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}
        details::details-content{content-visibility:visible;block-size:auto}
        h2{break-after:avoid}tr,li{break-inside:avoid}.picture th[scope=row]{position:static}
        .picture th,.picture td{min-width:0;padding:.2rem .3rem;overflow-wrap:anywhere}
        .pill{white-space:normal}
        .timeline{min-width:0}}
        """
}
