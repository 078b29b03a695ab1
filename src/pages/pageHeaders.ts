/**
 * The content policy is strict, because the service serves all files itself, and no page runs inline scripts or has
 * inline styles.
 */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // Allow data URIs, because purchased pictures and the icons of wallets use them.
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    // Forbid frames, because a site that frames a page could trick its reader into a click.
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
}
