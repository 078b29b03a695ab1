import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { assertPresent } from '@tollbook/core/assert'
import { connectWallet } from '@tollbook/agent/client/walletClient'
import { readHostTools } from '@tollbook/agent/mcp/serviceTools'
import { readPolicyFile } from '@tollbook/agent/policy/policyFile'
import { startWallet } from '@tollbook/agent/wallet/walletProcess'
import { afterFile } from '../support/afterFile.ts'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'
import { localConfig, openLocalMode } from '../support/openLocalMode.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { makeAgentFolder } from './support/agentFolder.ts'
import { openWindow } from './support/mcpWindow.ts'
import { research } from './support/research.ts'

/* A stock agent loop (npm `ai`) with a scripted model buys from five products on a budget, over MCP. */

const plan: readonly [RegExp, object][] = [
  [/get_api_data_weather/, { city: 'Lisbon' }],
  [/get_api_data_crypto/, { symbol: 'BTC' }],
  [/get_api_data_stock/, { symbol: 'AAPL' }],
  [/get_api_data_news/, { category: 'crypto', limit: 3 }],
  [/post_api_tools_qrcode/, { data: 'https://example.com/report' }],
  // 0.08 of 0.10 dollars are spent, and a chat costs 0.05.
  [/post_api_ai_chat/, { message: 'Summarise it.' }],
]
const asked = z.object({
  messages: z.array(z.object({ role: z.string() })),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })),
})
const report = 'The report. No summary: 0.02 of 0.10 USD are left, and it costs 0.05.'

/** A model behind the API of OpenAI that calls the tools of the plan in turn, and then answers. */
async function openScriptedModel() {
  const server = await openLoopbackServer(({ body }, response) => {
    const { messages, tools } = asked.parse(JSON.parse(body))
    const step = plan[messages.filter(({ role }) => role === 'tool').length]
    const name =
      step === undefined ? undefined : tools.map((tool) => tool.function.name).find((tool) => step[0].test(tool))
    const call = {
      id: `call-${messages.length}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(step?.[1]) },
    }
    const message =
      step === undefined
        ? { role: 'assistant', content: report }
        : { role: 'assistant', content: null, tool_calls: [call] }
    const finish = step === undefined ? 'stop' : 'tool_calls'
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const completion = {
      id: '1',
      object: 'chat.completion',
      created: 1,
      model: 'scripted',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    }
    answersJson(200, completion)({ method: '', path: '', headers: {}, body }, response)
  })
  return createOpenAICompatible({ name: 'scripted', baseURL: `${server.url}/v1` })('scripted')
}

test('an agent researches with five paid tools on a budget of 0.10 USD, as docs/agents.md records it', async () => {
  const { local } = await openLocalMode(localConfig(await makeScratchDirectory(), ['--sample-upstreams']))
  const secretKey = Uint8Array.from(
    z.array(z.number()).parse(JSON.parse(await readFile(local.demoWallet.keypairPath, 'utf8'))),
  )
  const folder = await makeAgentFolder(secretKey, {
    rpcUrl: local.rpcUrl,
    hosts: { [new URL(local.baseUrl).host]: {} },
    mints: { [local.tokenMint]: { name: 'TOLL', usdPerToken: '0.001' } },
    limits: { totalUsd: '0.10' },
  })
  const started = await startWallet({ folder, report: (line) => expect(line).toBe('') })
  afterFile(started.close)
  const wallet = connectWallet(folder, systemClock)
  const { client } = await openWindow(wallet, {
    hostTools: await readHostTools(wallet, (await readPolicyFile(folder.policy)).policy),
  })
  const { text, steps } = await research(
    client,
    await openScriptedModel(),
    'Research Lisbon, Bitcoin and Apple for a report.',
  )
  expect(text).toBe(report)
  const lines = steps.flatMap(({ toolResults }) =>
    toolResults.map(({ toolName, input, output }) => lineOf(toolName, input, output)),
  )
  const spending = z
    .object({ spentInAllUsd: z.string(), payments: z.number(), openPayments: z.number() })
    .parse(await wallet.read('/spending'))
  expect(spending).toEqual({ spentInAllUsd: '0.08', payments: 5, openPayments: 0 })
  const page = await readFile(join(import.meta.dirname, '../../docs/agents.md'), 'utf8')
  expect(page).toContain(['```text', ...lines, text, '```'].join('\n'))
  const loop = await readFile(join(import.meta.dirname, 'support/research.ts'), 'utf8')
  expect(page).toContain(loop.slice(loop.indexOf('export async function')).trimEnd())
})

const outputShape = z.array(z.object({ text: z.string() }))
const own = z.object({
  paid: z.object({ usd: z.string() }).optional().catch(undefined),
  refused: z.string().optional(),
})

/** One call as the page shows it. The name of a tool begins with the host and ends with a digest. */
function lineOf(toolName: string, input: unknown, output: unknown): string {
  const [name] = /(?:get|post)_[a-z_]+(?=_)/.exec(toolName) ?? []
  const text = outputShape.parse(output)[0]?.text ?? ''
  const { paid, refused } = own.parse(JSON.parse(text))
  const outcome =
    paid === undefined ? assertPresent(refused, `${name} is paid or refused: ${text}`) : `paid ${paid.usd} USD`
  return `${name} ${JSON.stringify(input)}: ${outcome}`
}
