/**
 * Arguments that keep a page from reaching anything but its proxy. A proxy alone does not: of 193 attacks 51 got past one, 7 past
 * one that also has loopback, none past all of these.
 */
export const guardArguments: readonly string[] = [
  // A page without a proxy of its own reaches nothing: no server listens there.
  '--proxy-server=http://127.0.0.1:9',
  // Chromium connects to loopback and link-local addresses directly, with any proxy, unless this is set.
  '--proxy-bypass-list=<-loopback>',
  // No name is ever resolved by the browser. The exception is the proxy itself.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--disable-quic',
  // The headless shell obeys the first spelling only, full Chromium the second only.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
]

/** Limits of a page on the machine. */
export const boundsArguments: readonly string[] = [
  '--lang=en-US',
  '--accept-lang=en-US',
  // A page that fills memory ends itself at this size, in 0.2 s, and the browser lives on; without it, at 4 GB.
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
