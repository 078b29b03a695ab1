import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server'

/**
 * Returns why a request does not come to this service by its own name, or comes from a page of another site. Such a
 * page can have its own name resolve to this machine (DNS rebinding), and then read answers and use a wallet of the
 * browser.
 */
export function findForeignName(serviceUrl: string, header: (name: string) => string | undefined): string | undefined {
  const own = [...localhostAllowedHostnames(), ...(serviceUrl === '' ? [] : [new URL(serviceUrl).hostname])]
  const host = validateHostHeader(header('host'), own)
  if (!host.ok)
    return 'the host is not that of this service; the operator sets it as PUBLIC_URL, and a proxy must pass it on'
  return validateOriginHeader(header('origin'), own).ok ? undefined : 'pages of other origins cannot call these tools'
}
