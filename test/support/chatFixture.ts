import { Writable } from 'node:stream'
import { aiChat } from '../../src/products/chat/aiChat.ts'
import { chatCompletions } from '../../src/products/chat/chatCompletions.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { createChatServer } from '../../src/products/chat/server/chatServer.ts'
import type { ModelPrices } from '../../src/pricing/modelPrices.ts'
import { createLog } from '../../src/machine/log.ts'
import { answersJson, answersText, type LoopbackServer, openLoopbackServer, type Script } from './loopbackServer.ts'
import { shiftedClock } from './shiftedClock.ts'

/* Two servers of language models on loopback, and the chat products over them. */

export const key = 'sk-very-secret-0123456789'
export let first: LoopbackServer
export let second: LoopbackServer

/** Called by each test file, because they share this module and the servers are closed after each file. */
export async function openChatServers(): Promise<void> {
  first = await openLoopbackServer(answersText(500, ''))
  second = await openLoopbackServer(answersText(500, ''))
}

/** Output of the products since `resetChat`. */
export const seen: { logged: string; readonly calls: string[] } = { logged: '', calls: [] }
const destination = new Writable({
  write(chunk, _encoding, done) {
    seen.logged += String(chunk)
    done()
  },
})

export interface Rig {
  readonly servers?: readonly LoopbackServer[]
  readonly baseUrl?: string
  readonly apiKey?: string | undefined
  readonly timeoutMs?: number
  readonly sampleUpstreams?: boolean
  readonly streamMsMax?: number
  readonly silentMsMax?: number
  readonly modelPrices?: ModelPrices
}

export const clock = shiftedClock()

function open(definition: typeof aiChat, rig: Rig): Endpoint {
  const { servers = [first], timeoutMs = 5_000, sampleUpstreams = false, silentMsMax = 4_000 } = rig
  const deps = {
    clock,
    log: createLog({ level: 'debug', name: 'test', destination }),
    version: '0.2.0',
    contact: 'ops@example.com',
    onCall: ({ upstream, outcome }: { upstream: string; outcome: string }) =>
      void seen.calls.push(`${upstream} ${outcome}`),
  }
  const chatServers = servers.map((server, index) =>
    createChatServer(deps, {
      label: `ai-${index + 1}`,
      baseUrl: rig.baseUrl ?? `${server.url}/v1`,
      models: index === 0 ? ['llama3.2', 'larger'] : ['other-model'],
      apiKey: 'apiKey' in rig ? rig.apiKey : key,
      timeoutMs,
      silentMsMax,
    }),
  )
  const { modelPrices = new Map() } = rig
  const chatLimits = { outputTokensMax: 256, modelPrices, streamMsMax: rig.streamMsMax ?? 5_000, silentMsMax }
  return openEndpoint(definition, { clock, sampleUpstreams, isProbed: false, chatServers, chatLimits })
}

export const openChat = (rig: Rig = {}) => open(aiChat, rig)
export const openCompletions = (rig: Rig = {}) => open(chatCompletions, rig)

export function resetChat(): void {
  seen.logged = ''
  seen.calls.length = 0
  clock.hold(false)
  for (const server of [first, second]) {
    server.asked.length = 0
    server.script(says())
  }
}

export const completion = (more: object = {}, choice: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_795_178_961,
  model: 'llama3.2',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop', ...choice }],
  usage: { prompt_tokens: 27, completion_tokens: 3, total_tokens: 30 },
  ...more,
})
export const says = (more: object = {}, choice: object = {}): Script => answersJson(200, completion(more, choice))
export const message = (content: unknown, more: object = {}) => ({ message: { role: 'assistant', content, ...more } })
