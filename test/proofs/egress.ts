import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Option } from 'commander'
import { attacksOn } from './egress/attacks.ts'
import { createResolve } from '../../src/outbound/egressRules.ts'
import { type EgressEnvironment, openEnvironment } from './egress/environment.ts'
import { guardedFetchers, tryFetchers, unguardedFetchers } from './egress/fetchers.ts'
import { guarded, openAttackedRenderer, secretText, type Tried, tryAttack } from './egress/tryAttacks.ts'
import { unguarded } from './egress/unguarded.ts'
import { proofCommand } from './proofCommand.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * No page reaches an address that is not global: each attack runs on a real browser, together with canaries that count
 * arrivals. `--unguarded` switches the guard off and shows that the canaries work.
 *
 * As root everything runs in a separate network namespace, which contains reachable private addresses and the ports of
 * the
 * web. Otherwise loopback stands for the private network.
 */

const command = proofCommand('egress', 'No page that the browser renders reaches an address that is not global.')
  .option('--unguarded', 'switch the guard off, to show that the canaries work', false)
  .option('--loopback', 'let loopback stand for the private network, as without root', false)
  .option('--only <pattern>', 'run only the attacks whose group and name match the regular expression', '')
  .addOption(new Option('--inside', 'this process is in the network namespace').default(false).hideHelp())
const values = command.parse().opts<{ unguarded: boolean; inside: boolean; loopback: boolean; only: string }>()
// Below this the attacks would prove little.
const unguardedHitsMin = 20

const globalAddress = '93.184.216.34'
const globalAddressV6 = '2606:2800:220:1::22'
const privateAddresses = [
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '198.18.0.1',
  '168.63.129.16',
]

if (!values.inside && !values.loopback && mayHaveNamespace()) {
  const words = [fileURLToPath(import.meta.url), '--inside', ...process.argv.slice(2)]
  const { status } = spawnSync('unshare', ['--net', '--mount', '--', process.execPath, ...words], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} else await prove()

function mayHaveNamespace(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const script = 'ip link set lo up && ip addr add 10.0.0.1/32 dev lo'
  return spawnSync('unshare', ['--net', '--', 'sh', '-c', script]).status === 0
}

async function prove(): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const secretFile = await writeSecret(opened)
  const environment = opened.use(
    values.inside ? await openNamespaceEnvironment(secretFile) : await openLoopbackEnvironment(secretFile),
  )
  const renderer = await openAttackedRenderer(values.unguarded ? unguarded(environment) : guarded(environment))
  opened.defer(() => renderer.close())
  const why = renderer.whyUnavailable()
  if (why !== undefined) return concludeProof({ holds: false, lines: [why] })
  const only = new RegExp(values.only)
  const attacks = attacksOn(environment).filter(({ group, name }) => only.test(`${group} ${name}`))
  say(`${attacks.length} attacks, guard ${values.unguarded ? 'OFF' : 'on'}, private network: ${placeName()}`)
  const tried: Tried[] = []
  const check = values.unguarded ? createResolve([environment.nameServer]) : undefined
  const attacked = { renderer, ...(check === undefined ? {} : { check }) }
  const report = (result: Tried): void => {
    tried.push(result)
    process.stdout.write(`${rowOf(result)}\n`)
  }
  for (const attack of attacks) report(await tryAttack(attacked, environment, attack))
  const fetchers = values.unguarded ? unguardedFetchers(environment) : guardedFetchers(environment)
  if (only.test('name, fetcher')) (await tryFetchers(fetchers, environment)).forEach(report)
  say(`questions to the name server that came over TCP: ${environment.tcpQuestions()}`)
  conclude(tried, environment.openers)
}

function placeName(): string {
  return values.inside ? 'a network namespace' : 'loopback'
}

async function writeSecret(opened: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tollbook-egress-'))
  opened.defer(() => rm(directory, { recursive: true }))
  execFileSync('chmod', ['755', directory])
  const file = join(directory, 'secret.txt')
  await writeFile(file, secretText, { mode: 0o644 })
  return file
}

async function openNamespaceEnvironment(secretFile: string): Promise<EgressEnvironment> {
  const ip = (words: string) => execFileSync('ip', words.split(' '))
  ip('link set lo up')
  for (const address of privateAddresses) ip(`addr add ${address}/32 dev lo`)
  ip('addr add fd00::1/128 dev lo')
  // WebRTC searches for an interface other than loopback, and sends nothing without one.
  try {
    ip('link add card type veth peer name wall')
    ip('link set wall up')
  } catch {
    say('no network card can be made here: the attacks by WebRTC prove nothing')
    ip('link add card type bridge')
  }
  ip('link set card up')
  ip(`addr add ${globalAddress}/24 dev card`)
  ip('route add default dev card')
  // Chromium asks for IPv6 addresses only where a global one has a route.
  ip(`addr add ${globalAddressV6}/64 dev card nodad`)
  ip('-6 route add default dev card')
  await useNameServer()
  return openEnvironment({
    site: { address: globalAddress, port: 80, tlsPort: 443 },
    watchesOpeners: true,
    nameServerPort: 53,
    canaries: { addresses: [...privateAddresses, '127.0.0.1', '::1', 'fd00::1'], ports: [80, 443] },
    secretFile,
  })
}

/** In the mount namespace of this process, so that the machine keeps its own. */
async function useNameServer(): Promise<void> {
  const file = join(await mkdtemp(join(tmpdir(), 'tollbook-egress-')), 'resolv.conf')
  await writeFile(file, 'nameserver 127.0.0.1\n', { mode: 0o644 })
  execFileSync('mount', ['--bind', file, '/etc/resolv.conf'])
}

function openLoopbackEnvironment(secretFile: string): Promise<EgressEnvironment> {
  return openEnvironment({
    site: { address: '127.0.0.1', port: 0, tlsPort: 0 },
    nameServerPort: 0,
    watchesOpeners: process.getuid?.() === 0,
    canaries: { addresses: ['127.0.0.1'], ports: [0] },
    secretFile,
  })
}

function rowOf({ group, name, hits, leaked, outcome }: Tried): string {
  const count = hits === 0 ? '.' : String(hits)
  return `${count.padStart(4)}  ${leaked ? 'LEAK' : '    '}  ${outcome.padEnd(12)}  ${group.padEnd(28)}  ${name.slice(0, 60)}`
}

function conclude(tried: readonly Tried[], openers: EgressEnvironment['openers']): void {
  process.stdout.write(`${JSON.stringify({ guarded: !values.unguarded, place: placeName(), openers, tried })}\n`)
  const hit = tried.filter(({ hits }) => hits > 0)
  const leaked = tried.filter((result) => result.leaked)
  const connections = tried.reduce((sum, { hits }) => sum + hits, 0)
  concludeProof({
    holds: values.unguarded
      ? hit.length > unguardedHitsMin
      : connections === 0 && leaked.length === 0 && openers.browser === 0,
    lines: [
      `${tried.length} attacks: ${hit.length} reached a canary with ${connections} connections or datagrams, ${leaked.length} leaked text`,
      `connections to the attacker's site: ${openers.browser} opened by the browser, ${openers.proxy} by our proxy, ${openers.unknown} had ended`,
      ...notBiting(tried),
    ],
  })
}

/** Attacks that reach nothing even without the guard prove nothing with it. */
function notBiting(tried: readonly Tried[]): readonly string[] {
  if (!values.unguarded) return []
  const groups = Map.groupBy(tried, ({ group }) => group)
  return [...groups].map(([group, attacks]) => {
    const harmless = attacks.filter(({ hits, leaked }) => hits === 0 && !leaked).map(({ name }) => name)
    const names = harmless.length === 0 ? '' : `; without effect: ${harmless.join(', ').slice(0, 400)}`
    return `${group}: ${attacks.length - harmless.length} of ${attacks.length} bite${names}`
  })
}
