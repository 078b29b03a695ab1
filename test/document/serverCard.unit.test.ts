import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defaultSeller } from '../../src/product/seller.ts'
import { serverCard, serverCatalog } from '../../src/document/serverCard.ts'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

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

// Rules of the registry, from its schema of 2025-12-11.
const registered = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    .min(3)
    .max(200),
  title: z.string().min(1).max(100),
  version: z.string().max(255),
  description: z.string().min(1).max(100),
  websiteUrl: z.url(),
  remotes: z.array(z.strictObject({ type: z.literal('streamable-http'), url: z.url() })),
})

test('the example of the documentation turns the card into a server.json that the registry accepts', async () => {
  const page = await readFile(new URL('../../docs/mcp.md', import.meta.url), 'utf8')
  const example = /```sh\n([^`]*server\.json\n)```/.exec(page)?.[1] ?? ''
  const seller = { ...defaultSeller, description: 'x'.repeat(120) }
  const { url } = await openLoopbackServer(answersJson(200, serverCard('1.0.0', 'https://api.example.com', seller)))
  const cwd = await makeScratchDirectory()
  await promisify(execFile)('bash', ['-ec', example.replace('https://api.example.com', url)], { cwd })
  expect(registered.parse(JSON.parse(await readFile(`${cwd}/server.json`, 'utf8')))).toMatchObject({
    name: 'com.example.api/tollbook',
    remotes: [{ url: 'https://api.example.com/mcp' }],
  })
})
