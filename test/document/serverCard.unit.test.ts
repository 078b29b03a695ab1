import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defaultSeller } from '../../src/product/seller.ts'
import { serverCard, serverCatalog } from '../../src/document/serverCard.ts'

const read = async (file: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(`../../${file}`, import.meta.url), 'utf8'))
const described = z.object({ name: z.string(), version: z.string(), description: z.string(), title: z.string() })
const manifest = z.object({ name: z.string(), version: z.string(), mcpName: z.string() })
const entry = described.extend({ packages: z.array(z.object({ identifier: z.string(), version: z.string() })) })

test('server.json and the package of the agent have one name, and the server card describes the same', async () => {
  const [server, agent] = [
    entry.parse(await read('server.json')),
    manifest.parse(await read('packages/agent/package.json')),
  ]
  const card = described.parse(serverCard(server.version, 'https://api.example', defaultSeller))
  expect({ ...card, name: server.name }).toEqual(described.parse(server))
  expect(agent.mcpName).toBe(server.name)
  expect(server.packages).toEqual([{ identifier: agent.name, version: agent.version }])
  expect(server.version).toBe(agent.version)
  // The registry refuses a longer one.
  expect(server.description.length).toBeLessThanOrEqual(100)
})

test.each([
  ['https://api.example.com', 'com.example.api/tollbook'],
  ['https://api.example.com:8443', 'com.example.api/tollbook'],
  ['http://127.0.0.1:3000', 'localhost/tollbook'],
  ['http://[::1]:3000', 'localhost/tollbook'],
])('the card of %s has a name that its operator can prove: %s', (baseUrl, name) => {
  expect(serverCard('1.0.0', baseUrl, defaultSeller)).toMatchObject({ name })
})

test('the card and the catalog lead to the server', () => {
  expect(serverCard('1.0.0', 'https://api.example', defaultSeller)).toMatchObject({
    remotes: [{ url: 'https://api.example/mcp' }],
  })
  expect(serverCatalog('https://api.example:8443', defaultSeller)).toMatchObject({
    entries: [
      {
        identifier: 'urn:air:api.example:mcp:tollbook',
        url: 'https://api.example:8443/.well-known/mcp/server-card.json',
      },
    ],
  })
})
