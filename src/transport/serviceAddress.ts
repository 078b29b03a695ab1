/** Base URL of the service, for callers. */
export interface ServiceAddress {
  /** Base URL without a slash at its end. Empty until the service listens, unless PUBLIC_URL is set. */
  url(): string
  /** Prefix of the links in documents: PUBLIC_URL, or empty, so that a link leads to the host by which the document was read. */
  linkBase(): string
  /** Base URL in the answer to a request: PUBLIC_URL, or the host by which the request came. */
  urlFor(host: string): string
}

export interface ServiceAddressConfig {
  /** PUBLIC_URL; undefined when it is not set. */
  readonly publicUrl: string | undefined
  readonly host: string
}

export interface ListeningAddress extends ServiceAddress {
  /** Called before the service listens. */
  configure(config: ServiceAddressConfig): void
  /** Called when the port is known. */
  listensOn(port: number): void
}

/** `PUBLIC_URL` where it is set; otherwise the address that the service listens on. */
export function createServiceAddress(): ListeningAddress {
  let publicUrl: string | undefined
  let host = ''
  let url = ''
  return {
    configure(config) {
      publicUrl = config.publicUrl
      host = config.host
      url = publicUrl ?? ''
    },
    listensOn(port) {
      url = publicUrl ?? `http://${hostToFetch(host)}:${port}`
    },
    url: () => url,
    linkBase: () => publicUrl ?? '',
    urlFor: (requested) => publicUrl ?? (requested === '' ? '' : `http://${requested}`),
  }
}

/** A host that stands for all addresses cannot be fetched from. */
function hostToFetch(host: string): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return name.includes(':') ? `[${name}]` : name
}
