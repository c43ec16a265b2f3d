@_exported public import HTTPDNSCaching
// What an application gets with `import HTTPDNS`: the public types of the modules below.
@_exported public import HTTPDNSCapture
@_exported public import HTTPDNSClient
@_exported public import HTTPDNSDatagram
@_exported public import HTTPDNSDiagnosis
@_exported public import HTTPDNSEvidence
@_exported public import HTTPDNSExchange
@_exported public import HTTPDNSIDNA
@_exported public import HTTPDNSLookup
@_exported public import HTTPDNSNames
@_exported public import HTTPDNSPinPolicy
@_exported public import HTTPDNSResolution
@_exported public import HTTPDNSStatic
@_exported public import HTTPDNSSystem
@_exported public import HTTPDNSTrust
@_exported public import HTTPDNSWire
