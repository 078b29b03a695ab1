import type { ServerSettings } from '../../config/serverSettings.ts'

/** Base URL for callers: PUBLIC_URL, or the listener once its port is known. */
export interface ServiceAddress {
  /** PUBLIC_URL; undefined when it is not set. */
  readonly publicUrl: string | undefined
  url(): string
  listensOn(port: number): void
}

export function createServiceAddress({ publicUrl, host }: ServerSettings): ServiceAddress {
  let url = publicUrl ?? ''
  return {
    publicUrl,
    url: () => url,
    listensOn(port) {
      url ||= `http://${hostToFetch(host)}:${port}`
    },
  }
}

/** A host that stands for all addresses cannot be fetched from. */
function hostToFetch(host: string): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return name.includes(':') ? `[${name}]` : name
}
