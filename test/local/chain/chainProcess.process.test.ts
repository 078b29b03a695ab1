import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Keypair } from '@solana/web3.js'
import { expect, onTestFinished, test } from 'vitest'
import { type SpawnLocalChainOptions, spawnLocalChain } from '@tollbook/localnet/spawnLocalChain'
import type { Fault } from '@tollbook/core/fault'
import { createLog, silentLog } from '../../../src/machine/log.ts'
import { onceAlive } from '../../support/onceAlive.ts'
import { call, connectTo, eventually, makeStateDirectory } from './testChain.ts'

test('a spawned chain serves, forwards its log, stops on request and persists its state', async () => {
  const stateDirectory = await makeStateDirectory()
  const lines: string[] = []
  const destination = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) })
  const log = createLog({ level: 'info', name: 'test', destination })
  const address = Keypair.generate().publicKey
  const first = await spawnForTest({ slotMs: 20, stateDirectory, log })
  await connectTo(first).requestAirdrop(address, 1_000_000)
  await first.stop()
  expect(isAlive(first.pid)).toBe(false)
  expect(lines.join('')).toContain(`answers at ${first.rpcUrl}`)

  const second = await spawnForTest({ slotMs: 20, stateDirectory, nodes: [{}, { lag: 5, fail: 'hang' }] })

  expect(second.genesisHash).toBe(first.genesisHash)
  const [rpcUrl = '', other = ''] = second.rpcUrls
  expect((await call({ rpcUrl: other }, 'localnet_nodes')).result).toEqual([
    { rpcUrl, behaviour: {} },
    { rpcUrl: other, behaviour: { lag: 5, fail: 'hang' } },
  ])
  expect(await connectTo(second).getBalance(address)).toBe(1_000_000)
})

test('kill -9 in the middle of a stream of transactions loses nothing that was acknowledged', async () => {
  const stateDirectory = await makeStateDirectory()
  const address = Keypair.generate().publicKey
  const exits: Fault[] = []
  const chain = await spawnForTest({ slotMs: 20, stateDirectory, onUnexpectedExit: (fault) => exits.push(fault) })
  const connection = connectTo(chain)
  const acknowledged: string[] = []
  const slots: number[] = []
  const stream = async () => {
    for (let index = 0; index < 10_000; index++) {
      acknowledged.push(await connection.requestAirdrop(address, 1_000_000))
      slots.push(await connection.getSlot('processed'))
    }
  }
  const streams = Array.from({ length: 4 }, () => stream().catch(() => 'cut'))
  await eventually(() => acknowledged.length > 60 || undefined)

  process.kill(chain.pid, 'SIGKILL')

  expect(await Promise.all(streams)).toEqual(['cut', 'cut', 'cut', 'cut'])
  await eventually(() => exits[0])
  expect(exits[0]?.message).toContain('was ended by SIGKILL')
  const again = connectTo(await spawnForTest({ slotMs: 0, stateDirectory }))
  expect(await again.getSlot('processed')).toBeGreaterThanOrEqual(Math.max(...slots))
  const signatures = [...acknowledged]
  while (signatures.length > 0) {
    const { value } = await again.getSignatureStatuses(signatures.splice(0, 256), { searchTransactionHistory: true })
    for (const status of value) expect(status).toMatchObject({ err: null })
  }
  // Requests in progress may have landed or not, but balance and history agree.
  const landed = await again.getTransactionCount()
  expect(landed).toBeGreaterThanOrEqual(acknowledged.length)
  expect(await again.getBalance(address)).toBe(landed * 1_000_000)
})

test('a second process is refused the directory and says who has it', async () => {
  const stateDirectory = await makeStateDirectory()
  const first = await spawnForTest({ slotMs: 0, stateDirectory })

  await expect(spawnForTest({ slotMs: 0, stateDirectory })).rejects.toThrow(
    new RegExp(`exited with code 1: .*did not start: .*in use by process ${first.pid}: stop that one first`),
  )
})

test('a chain whose parent was killed ends too', async () => {
  const parent = await startParent()
  const chainPid = Number(await nextLine(parent))
  expect(isAlive(chainPid)).toBe(true)

  parent.kill('SIGKILL')

  await eventually(() => !isAlive(chainPid) || undefined)
})

const spawnFile = fileURLToPath(new URL('../../../packages/localnet/src/spawnLocalChain.ts', import.meta.url))
const logFile = fileURLToPath(new URL('../../../src/machine/log.ts', import.meta.url))

async function spawnForTest(options: Partial<SpawnLocalChainOptions>) {
  const chain = await spawnLocalChain({ log: silentLog, ...options })
  onTestFinished(() => chain.stop())
  return chain
}

/** A process that spawns a chain, prints its pid and then waits. */
async function startParent(): Promise<ChildProcess> {
  const script = `
    import { spawnLocalChain } from ${JSON.stringify(spawnFile)}
    import { silentLog } from ${JSON.stringify(logFile)}
    console.log((await spawnLocalChain({ log: silentLog, slotMs: 0 })).pid)
  `
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void parent.kill('SIGKILL'))
  return parent
}

async function nextLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('expected a piped stdout')
  const [line] = await onceAlive(child, 'line', createInterface({ input: child.stdout }))
  return String(line)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
