/** A proxy alone is not enough: in a test of many attacks, some bypassed it. None bypassed all of these arguments. */
export const guardArguments: readonly string[] = [
  // No server listens at this address, so a page without the proxy of a job reaches nothing.
  '--proxy-server=http://127.0.0.1:9',
  // Clear the bypass list, because Chromium connects to loopback and link-local addresses directly by default, past any
  // proxy.
  '--proxy-bypass-list=<-loopback>',
  // Prevent name lookups by the browser. The only exception is the address of the proxy.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--disable-quic',
  // Set both spellings: the headless shell reads only the first, full Chromium only the second.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
]

export const boundsArguments: readonly string[] = [
  '--lang=en-US',
  '--accept-lang=en-US',
  // A page that fills this memory crashes, and the browser continues.
  '--js-flags=--max-old-space-size=256',
  '--block-new-web-contents',
  '--disable-3d-apis',
  '--disable-gpu',
  '--disk-cache-size=1',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--no-default-browser-check',
  '--no-pings',
  '--deny-permission-prompts',
  '--autoplay-policy=user-gesture-required',
]
