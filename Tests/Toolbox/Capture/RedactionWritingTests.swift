import Testing

@testable import HTTPDNSCapture

/// Secrets by how they are written: in escapes, in references of XML, below a name in an attribute.
@Suite struct RedactionWritingTests {
    typealias Case = RedactionKindsTests.Case
    private static let json = RedactionKindsTests.json

    /// Escapes of JSON, as Gson (`=`, `&`) and .NET (`"`, `'`, `+`) write them by default.
    private static let escapes = [
        Case(
            json, #"{"u":"https://a.test/?a\u003d1\u0026token\u003dSECRET","b":1}"#,
            #"{"u":"https://a.test/?a\u003d1\u0026token\u003dREDACTED","b":1}"#),
        Case(
            json, #"{"u":"user\u003Da\u0026password\u003DSECRET\u0026b\u003D1","b":1}"#,
            #"{"u":"user\u003Da\u0026password\u003DREDACTED\u0026b\u003D1","b":1}"#),
        Case(
            json, #"{"m":"{\u0022password\u0022:\u0022SECRET x\u0022,\u0022a\u0022:1}","b":1}"#,
            #"{"m":"{\u0022password\u0022:\u0022REDACTED\u0022,\u0022a\u0022:1}","b":1}"#),
        Case(
            json, #"{"m":"{\u0027password\u0027: \u0027SECRET\u0027}","b":1}"#,
            #"{"m":"{\u0027password\u0027: \u0027REDACTED\u0027}","b":1}"#),
        Case(
            json, #"{"m":"password =\u003e \"SECRET\"","b":1}"#,
            #"{"m":"password =\u003e \"REDACTED\"","b":1}"#),
        Case(json, #"{"m":"Bearer\u0020SECRET","b":1}"#, #"{"m":"Bearer\u0020REDACTED","b":1}"#),
        Case(
            json, #"{"m":"https\u003a\u002f\u002fu\u003aSECRET\u0040h/x","b":1}"#,
            #"{"m":"https\u003a\u002f\u002fREDACTED\u0040h/x","b":1}"#),
        Case(
            json, #"{"m":"p\u0061ssword=SECRET","b":1}"#, #"{"m":"p\u0061ssword=REDACTED","b":1}"#),
        Case(json, #"{"m":"\u0065yJhbGciOiJIUzI1NiJ9.SECRET","b":1}"#, #"{"m":"REDACTED","b":1}"#),
        Case(json, #"{"key":"Zq9v\u002b7xKmSECRET","b":1}"#, #"{"key":"REDACTED","b":1}"#),
        Case(
            json, #"{"m":"{\"u\":\"a\\u003d1\\u0026token\\u003dSECRET\"}","b":1}"#,
            #"{"m":"{\"u\":\"a\\u003d1\\u0026token\\u003dREDACTED\"}","b":1}"#),
        Case(
            json, #"{"m":"{\\u0022password\\u0022:\\u0022SECRET x\\u0022}","b":1}"#,
            #"{"m":"{\\u0022password\\u0022:\\u0022REDACTED\\u0022}","b":1}"#),
        Case(
            json, #"{"m":"{\"n\":\"{\\\u0022token\\\u0022:\\\u0022SECRET\\\u0022}\"}","b":1}"#,
            #"{"m":"{\"n\":\"{\\\u0022token\\\u0022:\\\u0022REDACTED\\\u0022}\"}","b":1}"#),
        Case(
            json, "{\"m\":\"password\\u003dSECRET\"}\n{\"m\":\"token\\u003dSECRET\"}\n",
            "{\"m\":\"password\\u003dREDACTED\"}\n{\"m\":\"token\\u003dREDACTED\"}\n"),
        Case(
            "text/event-stream", #"data: {"m":"{\u0022token\u0022:\u0022SECRET a\u0022}","b":1}"#,
            #"data: {"m":"{\u0022token\u0022:\u0022REDACTED\u0022}","b":1}"#),
        Case(
            "text/event-stream", #"data: {"u":"/?a\u003d1\u0026token\u003dSECRET","b":1}"#,
            #"data: {"u":"/?a\u003d1\u0026token\u003dREDACTED","b":1}"#),
        Case(
            "application/x-www-form-urlencoded",
            "d=%7B%22u%22%3A%22a%5Cu003d1%5Cu0026token%5Cu003dSECRET%22%7D&b=1",
            "d=%7B%22u%22%3A%22a%5Cu003d1%5Cu0026token%5Cu003dREDACTED%22%7D&b=1"),
        Case(
            "text/plain", #""{\x22password\x22:\x22SECRET\x22}" 200"#,
            #""{\x22password\x22:\x22REDACTED\x22}" 200"#),
        Case(
            json, #"{"m":"Cookie: a=SECRET\u000aHost: b","b":1}"#,
            #"{"m":"Cookie: REDACTED\u000aHost: b","b":1}"#),
        Case("text/plain", #"password=ab\u0022SECRET b"#, "password=REDACTED b"),
        Case(
            "text/html", #"<script>var a = "Bearer\u0020SECRET";</script>"#,
            #"<script>var a = "Bearer\u0020REDACTED";</script>"#),
    ]

    /// XML in the text of XML, and what else is written in its references.
    private static let references = [
        Case(
            "text/xml", "<a>&lt;password&gt;SECRET&lt;/password&gt;</a><b>c</b>",
            "<a>&lt;password&gt;REDACTED&lt;/password&gt;</a><b>c</b>"),
        Case(
            "text/xml", "<a>&lt;ns:token x=&apos;1&apos;&gt;SECRET&lt;/ns:token&gt;&lt;b/&gt;</a>",
            "<a>&lt;ns:token x=&apos;1&apos;&gt;REDACTED&lt;/ns:token&gt;&lt;b/&gt;</a>"),
        Case(
            "text/xml", "<a>&lt;user password=&quot;SECRET two&quot;/&gt;</a><b>c</b>",
            "<a>&lt;user password=&quot;REDACTED&quot;/&gt;</a><b>c</b>"),
        Case(
            "text/xml",
            "<a>&lt;p name=&quot;password&quot; value=&quot;SECRET&quot;/&gt;</a><b>c</b>",
            "<a>&lt;p name=&quot;password&quot; value=&quot;REDACTED&quot;/&gt;</a><b>c</b>"),
        Case(
            "text/xml", "<a>&amp;lt;password&amp;gt;SECRET&amp;lt;/password&amp;gt;</a>",
            "<a>&amp;lt;password&amp;gt;REDACTED&amp;lt;/password&amp;gt;</a>"),
        Case(
            "text/xml",
            "<a>password&#61;SECRET</a><b>token&#x3D;SECRET</b><c>Bearer&#32;SECRET</c>",
            "<a>password&#61;REDACTED</a><b>token&#x3D;REDACTED</b><c>Bearer&#32;REDACTED</c>"),
        Case(
            "text/xml", "<a>{&#34;token&#34;:&#34;SECRET a&#34;,&quot;b&quot;:1}</a>",
            "<a>{&#34;token&#34;:&#34;REDACTED&#34;,&quot;b&quot;:1}</a>"),
        Case(
            "text/xml", #"<a b="/?a=1&amp;token=SECRET&amp;c=d"/>"#,
            #"<a b="/?a=1&amp;token=REDACTED&amp;c=d"/>"#),
        Case(
            "text/xml", "<password>a&lt;/password&gt;SECRET</password><b>c</b>",
            "<password>REDACTED</password><b>c</b>"),
        Case("text/xml", #"<a token="b&quot;SECRET"/><b>c</b>"#, #"<a token="REDACTED"/><b>c</b>"#),
        Case(
            "text/xml", "<a>https&#58;//u&#58;SECRET&#64;h/</a>",
            "<a>https&#58;//REDACTED&#64;h/</a>"),
        Case(
            json,
            #"{"m":"\u003ca\u003e\u0026lt;token\u0026gt;SECRET\u0026lt;/token\u0026gt;","b":1}"#,
            #"{"m":"\u003ca\u003e\u0026lt;token\u0026gt;REDACTED\u0026lt;/token\u0026gt;","b":1}"#),
        Case(
            "application/x-www-form-urlencoded",
            "d=%26lt%3Btoken%26gt%3BSECRET%26lt%3B/token%26gt%3B&b=1",
            "d=%26lt%3Btoken%26gt%3BREDACTED%26lt%3B/token%26gt%3B&b=1"),
        Case("text/plain", "Password:&nbsp;SECRET\nb", "Password:&nbsp;REDACTED\nb"),
    ]

    /// Elements that an attribute names.
    private static let named = [
        Case(
            "text/xml", #"<p><entry key="db.password">SECRET</entry><entry key="a">b</entry></p>"#,
            #"<p><entry key="db.password">REDACTED</entry><entry key="a">b</entry></p>"#),
        Case(
            "text/xml", #"<string name="access_token">SECRET</string><string name="a">b</string>"#,
            #"<string name="access_token">REDACTED</string><string name="a">b</string>"#),
        Case(
            "text/xml", "<var id='password'>SECRET</var><setting id='token' value='SECRET'/>",
            "<var id='password'>REDACTED</var><setting id='token' value='REDACTED'/>"),
        Case(
            "text/xml", #"<field android:name="password"> SECRET <b>c</b></field>"#,
            #"<field android:name="password"> REDACTED<b>c</b></field>"#),
        Case(
            "text/xml",
            "<property name=\"password\">\n <value>SECRET</value></property><value>b</value>",
            "<property name=\"password\">\n <value>REDACTED</value></property><value>b</value>"),
        Case(
            "text/xml", #"<string name="token"><![CDATA[a<b</string>SECRET]]></string><c>d</c>"#,
            #"<string name="token"><![CDATA[REDACTED</string><c>d</c>"#),
        Case(
            "text/xml", #"<string name="key">SECRET</string><string name="key">b</string>"#,
            #"<string name="key">REDACTED</string><string name="key">b</string>"#),
        Case(
            "text/xml", "<a>&lt;entry key=&quot;password&quot;&gt;SECRET&lt;/entry&gt;</a>",
            "<a>&lt;entry key=&quot;password&quot;&gt;REDACTED&lt;/entry&gt;</a>"),
    ]

    private static let all = escapes + references + named

    @Test(arguments: all)
    func `a body keeps no secret, however it is written`(_ one: Case) {
        for out in RedactionKindsTests.scanned(one.body, one.type) { #expect(out == one.shown) }
    }

    @Test(arguments: all)
    func `a body that is cut anywhere keeps no secret, however it is written`(_ one: Case) {
        let whole = one.body.replacing("SECRET", with: RedactionKindsTests.secret)
        for limit in 1...whole.utf8.count {
            for out in RedactionKindsTests.scanned(one.body, one.type, upTo: limit) {
                #expect(
                    !out.contains(RedactionKindsTests.secret.prefix(6)), "cut at \(limit): \(out)")
            }
        }
    }

    @Test(arguments: [
        (
            json,
            #"{"a":"b\u003dc\u0026d\u0022e\u0022","f":"C:\\users\\x","g":"\u00e4\ud83d\ude00\\u12"}"#
        ),
        ("text/xml", "<a>b &lt; c &amp; d &unknown; &#x; &; R&D, AT&T</a>"),
        (
            "text/xml",
            "<xs:element name=\"password\">\n <xs:simpleType/></xs:element><a name=\"b\">c</a>"
        ),
        ("text/xml", #"<p name="password"/><value>b</value><input name="token"></input>"#),
        ("text/plain", #"C:\users\u00 \x4 \u \x a&b &lt &amp"#),
        ("application/x-www-form-urlencoded", "a=b&lt=c&amp;d=e&#61"),
    ])
    func `a body without a secret stays as it is, however it is written`(
        type: String, body: String
    ) {
        for out in RedactionKindsTests.scanned(body, type) { #expect(out == body) }
    }

    @Test(arguments: [
        (
            #"{"u":"a\u003d1\u0026token\u003dSECRET"}"#,
            #"{"u":"a\u003d1\u0026token\u003dREDACTED"}"#
        ),
        ("&lt;token&gt;SECRET&lt;/token&gt;", "&lt;token&gt;REDACTED&lt;/token&gt;"),
    ])
    func `a field keeps no secret, however it is written`(value: String, shown: String) {
        let told = Redactor(CaptureRedaction()).value(
            of: "X-Debug", value.replacing("SECRET", with: RedactionKindsTests.secret))
        #expect(told == shown)
    }
}
