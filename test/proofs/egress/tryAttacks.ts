import { extractText, getDocumentProxy } from 'unpdf'
import { openEgress } from '../../../src/rendering/openEgress.ts'
import { openRenderEngine } from '../../../src/rendering/openRenderEngine.ts'
import { openRenderer } from '../../../src/rendering/openRenderer.ts'
import type { Egress } from '../../../src/rendering/renderJob.ts'
import { RenderFailure, type Rendered, type Renderer } from '../../../src/rendering/renderer.ts'
import { createResolve } from '../../../src/outbound/egressRules.ts'
import { webPorts } from '../../../src/outbound/urlGuard.ts'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../../src/machine/log.ts'
import type { Attack } from './attacks.ts'
import { canaryText, type EgressEnvironment } from './environment.ts'

export interface Tried {
  readonly group: string
  readonly name: string
  /** Connections and datagrams that reached a canary. */
  readonly hits: number
  /** The text of a canary or of the secret file came out in a document. */
  readonly leaked: boolean
  /** `rendered`, or why not. */
  readonly outcome: string
}

export const secretText = 'secret-of-this-machine'
const margin = { top: '0px', right: '0px', bottom: '0px', left: '0px' }
/** The attacker's certificate has no issuer. */
const acceptAnyCertificate = '--ignore-certificate-errors'
const jobTimeoutMs = 8_000
// Requests of a page may still be in flight after its job has ended.
const lingerMs = 30

/** The production guard, which asks the attacker's name server. */
export function guarded(environment: EgressEnvironment): Egress {
  const resolve = createResolve([environment.nameServer])
  const sitePort = new URL(environment.site).port
  const tlsPort = new URL(environment.tlsSite).port
  const canaryPort = environment.port.slice(1)
  const egress = openEgress({
    // On loopback the attacker's site is itself private, and has to be let in by name.
    allowHosts: sitePort === '' ? [] : [`attack.test:${sitePort}`, `frame.test:${sitePort}`, `attack.test:${tlsPort}`],
    // And the canary's port has to be one of the web, so that nothing but its address is what refuses it.
    rules: {
      resolve,
      resolveAllowed: resolve,
      ports: canaryPort === '' ? webPorts : [...webPorts, Number(canaryPort)],
    },
  })
  return { ...egress, browserArguments: [...egress.browserArguments, acceptAnyCertificate] }
}

export async function openAttackedRenderer(egress: Egress): Promise<Renderer> {
  const renderer = await openRenderer({
    clock: systemClock,
    allowHosts: [],
    concurrency: 1,
    jobTimeoutMs,
    openEngine: () => openRenderEngine({ clock: systemClock, log: silentLog, egress, chromiumPath: undefined }),
  })
  while (/being started/.test(renderer.whyUnavailable() ?? '')) await systemClock.sleep(lingerMs)
  return renderer
}

export interface AttackedBrowser {
  readonly renderer: Renderer
  /** Looks names up once before the browser does, as a guard that only checks. */
  readonly check?: (name: string) => Promise<unknown>
}

export async function tryAttack(
  { renderer, check }: AttackedBrowser,
  environment: EgressEnvironment,
  attack: Attack,
): Promise<Tried> {
  const before = environment.hits()
  if (attack.lookedUp !== undefined) await check?.(attack.lookedUp)
  const { outcome, text } = await run(renderer, environment, attack)
  await systemClock.sleep(lingerMs)
  const leaked = text.includes(secretText) || text.includes(canaryText)
  return { group: attack.group, name: attack.name, hits: environment.hits() - before, leaked, outcome }
}

let payments = 0

async function run(renderer: Renderer, environment: EgressEnvironment, { target }: Attack) {
  const customer = { payer: 'attacker', payment: `payment ${payments++}`, signal: new AbortController().signal }
  environment.serve('page' in target ? target : { page: `<script>fetch('/again')</script>` })
  const page = 'html' in target ? target : { url: 'url' in target ? target.url : `${siteOf(environment, target)}/` }
  try {
    // A document of everything, because its text can be searched.
    const { bytes } = await renderer.pdf({ page, format: 'A4', margin }, customer)
    return { outcome: 'rendered', text: await textOf(bytes) }
  } catch (error) {
    if (!(error instanceof RenderFailure)) throw error
    return { outcome: error.kind, text: '' }
  }
}

function siteOf({ site, tlsSite }: EgressEnvironment, { isSecure = false }: { readonly isSecure?: boolean }): string {
  return isSecure ? tlsSite : site
}

async function textOf(bytes: Rendered['bytes']): Promise<string> {
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const { text } = await extractText(document, { mergePages: true })
  return text.replaceAll(/\s/g, '')
}
