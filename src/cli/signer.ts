import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { z } from 'zod'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { toBase64Url } from '@tollbook/core/bytes'
import { systemClock } from '@tollbook/core/clock'
import { type Ed25519Signer, ed25519Signer } from '@tollbook/core/ed25519'
import { Fault } from '@tollbook/core/fault'
import { readConfig } from '../config.ts'
import { createLog } from '../primitives/log.ts'
import { openSigner } from '../signer/openSigner.ts'
import { untilStopped } from './untilStopped.ts'

const help = `
Configured by environment: SIGNER_SOCKET, FEE_PAYER_KEYPAIR, SIGNER_JOURNAL, TOKEN_MINT, PAYMENT_WALLET and the budgets
SIGNER_LAMPORTS_PER_DAY, SIGNER_LAMPORTS_PER_WALLET_AND_DAY and SIGNER_LAMPORTS_PER_PAYMENT; docs/x402.md explains them.`

/** `tollbook signer`: holds the key of the fee payer, in a separate process. */
export function signerCommand(): Command {
  return new Command('signer')
    .description('sign as the fee payer of x402 payments, on a Unix socket, within budgets in lamports')
    .option('--until-stdin-ends', 'stop when stdin ends, so that the signer ends with the process that started it')
    .addHelpText('after', help)
    .action(async ({ untilStdinEnds = false }: { readonly untilStdinEnds?: boolean }) => {
      const { logLevel, signer: settings } = readConfig()
      const log = createLog({ level: logLevel, name: 'tollbook signer' })
      const { socketPath, journalFile, keypairFile, tokenMint, paymentWallet, limits } = settings
      const signer = await openSigner({
        clock: systemClock,
        log,
        socketPath: needed('SIGNER_SOCKET', socketPath),
        journalFile: needed('SIGNER_JOURNAL', journalFile),
        key: await readKey(needed('FEE_PAYER_KEYPAIR', keypairFile)),
        terms: {
          mint: assertPresent(readAddress(needed('TOKEN_MINT', tokenMint)), 'TOKEN_MINT is an address'),
          paymentWallet: assertPresent(readAddress(needed('PAYMENT_WALLET', paymentWallet)), 'PAYMENT_WALLET is one'),
        },
        limits,
      })
      process.stdout.write(`signing as ${signer.address}\n`)
      const parentGone = new AbortController()
      if (untilStdinEnds) process.stdin.resume().once('end', () => parentGone.abort())
      await untilStopped(parentGone.signal)
      await signer.close()
      process.exit(0)
    })
}

function needed(name: string, value: string | undefined): string {
  if (value !== undefined) return value
  throw new Fault(`${name} is missing: tollbook signer --help has the list`, { retryable: false })
}

const secretKeyBytes = 64
const keypairJson = z.array(z.int().min(0).max(255)).length(secretKeyBytes)

/** A keypair file of the Solana CLI: 32 bytes of the private key, then 32 of the public key. */
async function readKey(path: string): Promise<Ed25519Signer> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Fault(`FEE_PAYER_KEYPAIR ${path} cannot be read`, { cause, retryable: false })
  })
  const bytes = Uint8Array.from(parseKeypair(path, text))
  const [d, x] = [bytes.subarray(0, secretKeyBytes / 2), bytes.subarray(secretKeyBytes / 2)].map(toBase64Url)
  return ed25519Signer({ kty: 'OKP', crv: 'Ed25519', d: d ?? '', x: x ?? '' })
}

function parseKeypair(path: string, text: string): readonly number[] {
  try {
    return keypairJson.parse(JSON.parse(text))
  } catch {
    // The cause is left out on purpose: a JSON error quotes the text around it, which is the key.
    throw new Fault(`FEE_PAYER_KEYPAIR ${path} is not a keypair file: expected a JSON array of 64 bytes`, {
      retryable: false,
    })
  }
}
