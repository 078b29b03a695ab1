import type { Json } from '@tollbook/core/canonicalJson'

/* Descriptions of the MCP server for clients and directories that have not connected yet. */

/** Media type of a server card (SEP-2127). */
export const serverCardType = 'application/mcp-server-card+json'

const name = 'io.github.tollbook/tollbook'
const description = 'Data and tools by the request, paid with a token on Solana. No account and no API key.'

/** Creates the server card: identity and address. Tools and prices are in the list that the server itself returns. */
export function serverCard(version: string, baseUrl: string): Json {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name,
    title: 'Tollbook',
    version,
    description,
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

/** Creates the catalog of the host, whose only entry is the server card. */
export function serverCatalog(baseUrl: string): Json {
  const { hostname } = new URL(baseUrl)
  return {
    specVersion: '1.0',
    host: { displayName: 'Tollbook' },
    entries: [
      {
        identifier: `urn:air:${hostname}:mcp:tollbook`,
        displayName: 'Tollbook',
        type: serverCardType,
        url: `${baseUrl}/.well-known/mcp/server-card.json`,
        description,
      },
    ],
  }
}
