export interface ServiceAddressConfig {
  readonly publicUrl: string | undefined
  readonly host: string
}

export type ListeningAddress = ReturnType<typeof createServiceAddress>
export type ServiceAddress = Pick<ListeningAddress, 'url' | 'linkBase' | 'urlFor'>

/** The address is `PUBLIC_URL` if it is set, otherwise the address on which the service listens. */
export function createServiceAddress() {
  let publicUrl: string | undefined
  let host = ''
  let url = ''
  return {
    configure(config: ServiceAddressConfig): void {
      publicUrl = config.publicUrl
      host = config.host
      url = publicUrl ?? ''
    },
    listensOn(port: number): void {
      url = publicUrl ?? `http://${hostToFetch(host)}:${port}`
    },
    /** Without a trailing slash. Empty until the service listens, unless PUBLIC_URL is set. */
    url: () => url,
    /** With an empty prefix, links are relative to the address of the document. */
    linkBase: () => publicUrl ?? '',
    /** PUBLIC_URL, or the host in the request. Empty without both. */
    urlFor: (requested: string) => publicUrl ?? (requested === '' ? '' : `http://${requested}`),
  }
}

/**
 * Returns the host as a part of a URL. Replaces a wildcard address by localhost, because no client can connect to a
 * wildcard.
 */
function hostToFetch(host: string): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return name.includes(':') ? `[${name}]` : name
}
