import { createServer, type IncomingMessage, type Server } from 'node:http'
import { assertPresent } from '@tollbook/core/assert'
import { listen } from '@tollbook/localnet/httpServer'
import { upstreamNames } from '../../../src/product/providerTerms.ts'
import type { Outcome } from '../../../src/product/product.ts'
import { type Answering, text } from '../../support/loopbackProvider.ts'
import { openProviderFixture } from '../../support/providerFixture.ts'
import { sampleTimeMs } from '../../support/upstreamSample.ts'
import { fieldFaults } from './fieldFaults.ts'
import { httpFaults } from './httpFaults.ts'
import type { Stage, StagedName, StagedProvider } from './stage.ts'

/**
 * `others honest`: one provider is at fault. `others silent`: and no other answers. `after a sale`: the same, with a
 * known value.
 */
export const settings = ['others honest', 'others silent', 'after a sale'] as const
export type Setting = (typeof settings)[number]

export interface Variant {
  readonly stage: Stage
  readonly provider: StagedProvider
  readonly kind: string
  readonly name: string
  readonly answering: Answering
  readonly saysUnknown: boolean
  readonly setting: Setting
}

export interface Result {
  readonly variant: Variant
  readonly verdict: 'right' | 'refused' | 'unknown' | 'false NO_DATA' | 'wrong' | 'wrong, marked'
  readonly detail: string
}

export function variantsOf(stage: Stage): readonly Variant[] {
  return stage.providers.flatMap((provider) => {
    const faults = [
      ...httpFaults(provider.honest).map((fault) => ({ saysUnknown: false, ...fault, kind: 'http' })),
      ...fieldFaultsOf(stage, provider).map((fault) => ({
        ...fault,
        saysUnknown: false,
        answering: text(fault.text, { headers: provider.honest.headers }),
      })),
    ]
    const chosen = settings.filter((setting) => setting !== 'after a sale' || stage.forgottenAfterMs !== undefined)
    return chosen.flatMap((setting) => faults.map((fault) => ({ stage, provider, setting, ...fault })))
  })
}

function fieldFaultsOf({ thinning = 1 }: Stage, { facts, honest }: StagedProvider) {
  return facts === undefined ? [] : fieldFaults(honest.text, facts).filter((_fault, at) => at % thinning === 0)
}

const silent = text('down', { status: 503, headers: { 'retry-after': '60' } })

/** One server for each provider, which answers as the current variant says. */
export async function openServers(stage: Stage) {
  const answers = new Map<StagedName, Answering>()
  const urls = new Map<StagedName, string>()
  const servers: Server[] = []
  for (const provider of stage.providers) {
    const { name, aside } = provider
    const server = createServer((request: IncomingMessage, response) => {
      const { method = '', url = '', headers } = request
      const asked = { method, url: new URL(url, 'http://provider.invalid'), headers }
      const answering = aside?.(asked.url) ?? answers.get(name) ?? silent
      answering(response, asked)
    })
    urls.set(name, `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0 })}`)
    servers.push(server)
  }
  return {
    answers,
    /** A port that nothing uses stands for the providers that the stage leaves out. */
    urlOf: (name: StagedName) => urls.get(name) ?? 'http://127.0.0.1:9',
    close() {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

export type Servers = Awaited<ReturnType<typeof openServers>>

export async function tryVariant(variant: Variant, servers: Servers): Promise<Result> {
  const { stage, provider, setting, answering } = variant
  const { apiKeys = {}, isNow = false } = stage
  const addresses = upstreamNames.map((name) => [name, { url: servers.urlOf(name), apiKey: apiKeys[name] }])
  const { deps, clock } = openProviderFixture(Object.fromEntries(addresses), isNow ? undefined : sampleTimeMs)
  const product = stage.open(deps, servers.urlOf)
  const sayHonest = () => {
    for (const { name, honest } of stage.providers) servers.answers.set(name, honestly(honest))
  }
  sayHonest()
  if (setting === 'after a sale') {
    await product.buy()
    clock.forward(assertPresent(stage.forgottenAfterMs, 'a sale comes first only where it is forgotten'))
  }
  if (setting !== 'others honest') servers.answers.clear()
  servers.answers.set(provider.name, answering)
  return { variant, ...judge(variant, await product.buy()) }
}

function honestly({ headers, text: body }: StagedProvider['honest']): Answering {
  return text(body, { headers })
}

function judge({ stage, saysUnknown, setting }: Variant, outcome: Outcome): Omit<Result, 'variant'> {
  if (outcome.kind === 'failed') {
    if (outcome.code !== 'NO_DATA') return { verdict: 'refused', detail: outcome.code }
    return { verdict: saysUnknown ? 'unknown' : 'false NO_DATA', detail: outcome.message }
  }
  if (outcome.kind !== 'delivered') return { verdict: 'wrong', detail: outcome.kind }
  const wrong = stage.whyWrong(outcome.data, setting !== 'others honest')
  if (wrong === undefined) return { verdict: 'right', detail: outcome.meta.source }
  const detail = `${wrong} in ${JSON.stringify(outcome.data)}`
  return { verdict: isMarked(outcome.meta['agreement']) ? 'wrong, marked' : 'wrong', detail }
}

/** True for an answer that says that only one source has it. */
function isMarked(agreement: unknown): boolean {
  return /single/.test(JSON.stringify(agreement) ?? '')
}
