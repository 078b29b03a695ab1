import '@tollbook/core/quietBindings'
import { once } from 'node:events'
import { describeError } from '@tollbook/core/fault'
import { z } from 'zod'
import { type LocalChain, startLocalChain } from './localChain.ts'
import { createLineLog } from './log.ts'
import { nodeBehaviour } from './nodeBehaviour.ts'

/*
 * Runs the local chain as a child process of `spawnLocalChain`. The first message contains the options, and the reply
 * contains the addresses. Text for people goes to stderr.
 */

const chainOptions = z.object({
  port: z.int().exactOptional(),
  slotMs: z.int().exactOptional(),
  stateDirectory: z.string().exactOptional(),
  nodes: z.array(nodeBehaviour).exactOptional(),
  accounts: z
    .array(z.object({ address: z.string(), owner: z.string(), data: z.instanceof(Uint8Array) }))
    .exactOptional(),
})

try {
  const [message]: unknown[] = await once(process, 'message')
  const log = createLineLog('local-chain', process.stderr)
  const chain = await startLocalChain({ ...chainOptions.parse(message), log })
  stopOnRequest(chain)
  const { rpcUrl, wsUrl, genesisHash, nodes } = chain
  process.stderr.write(`local Solana chain answers at ${rpcUrl} (WebSocket ${wsUrl})\n`)
  process.send?.({ rpcUrl, wsUrl, genesisHash, rpcUrls: nodes.map((node) => node.rpcUrl) })
} catch (error) {
  process.stderr.write(`the local chain did not start: ${describeError(error)}\n`)
  process.exitCode = 1
}

/**
 * Stops the chain on a signal, or when the message channel closes. The channel closes when the parent process ends,
 * even by `kill -9`.
 */
function stopOnRequest(chain: LocalChain): void {
  const stop = (): void => void chain.close().finally(() => process.exit())
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, stop)
  // Stop on a write error, because the process that reads this output may have ended first.
  process.stderr.on('error', stop)
  if (!process.connected) stop()
}
