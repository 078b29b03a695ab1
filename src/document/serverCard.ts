import type { Json } from '@tollbook/core/canonicalJson'
import type { Seller } from '../product/seller.ts'

/* Descriptions of the MCP server, for clients and directories that have not connected to it yet. */

/** Media type of a server card (SEP-2127). */
export const serverCardType = 'application/mcp-server-card+json'

/**
 * Returns the name of the operator's MCP server: the host in reverse order, or `localhost` for an IP address. The
 * registry of MCP verifies the name over DNS.
 */
function nameOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  // An IP address is not a domain, so its parts cannot be reversed.
  const isDomain = /^[a-z0-9.-]*[a-z][a-z0-9.-]*$/.test(hostname)
  return `${isDomain ? hostname.split('.').reverse().join('.') : 'localhost'}/tollbook`
}

/**
 * Returns the card of the server, with only its identity and address. The server itself returns the list of tools and
 * prices.
 */
export function serverCard(version: string, baseUrl: string, seller: Seller): Json {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: nameOf(baseUrl),
    title: seller.name,
    version,
    description: `${seller.description}. No account and no API key.`,
    websiteUrl: `${baseUrl}/docs`,
    remotes: [
      {
        type: 'streamable-http',
        url: `${baseUrl}/mcp`,
        supportedProtocolVersions: ['2026-07-28', '2025-11-25'],
      },
    ],
  }
}

export function serverCatalog(baseUrl: string, seller: Seller): Json {
  const { hostname } = new URL(baseUrl)
  return {
    specVersion: '1.0',
    host: { displayName: seller.name },
    entries: [
      {
        identifier: `urn:air:${hostname}:mcp:tollbook`,
        displayName: seller.name,
        type: serverCardType,
        url: `${baseUrl}/.well-known/mcp/server-card.json`,
        description: `${seller.description}. No account and no API key.`,
      },
    ],
  }
}
