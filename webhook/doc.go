// Package webhook is the public listener: it takes providers' notifications in and does nothing else.
//
// What it promises: the body is read once, within limits, and kept byte for byte; the provider
// verifies exactly these bytes; what does not verify changes nothing and is never told why; what
// verifies is handed to the intake once; and a 2xx is written only after the intake returned nil,
// which it does after its commit (design §5). A provider is a package below this one.
package webhook
