import { Command } from 'commander'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { readConfig } from '../config.ts'
import { createLog } from '../machine/log.ts'
import { openSigner } from '../signer/openSigner.ts'
import { readSigningKey, requireVariables } from './signingKey.ts'
import { untilStopped } from './untilStopped.ts'

const help = `
Configured by environment: SIGNER_SOCKET, FEE_PAYER_KEYPAIR, SIGNER_JOURNAL, TOKEN_MINT, PAYMENT_WALLET and the budgets
SIGNER_LAMPORTS_PER_DAY, SIGNER_LAMPORTS_PER_WALLET_AND_DAY and SIGNER_LAMPORTS_PER_PAYMENT; docs/x402.md explains them.`

/** `tollbook signer`: holds the key of the fee payer, in a separate process. */
export function signerCommand(): Command {
  return new Command('signer')
    .description('sign as the fee payer of x402 and MPP payments, on a Unix socket, within budgets in lamports')
    .option('--until-stdin-ends', 'stop when stdin ends, so that the signer ends with the process that started it')
    .addHelpText('after', help)
    .action(async ({ untilStdinEnds = false }: { readonly untilStdinEnds?: boolean }) => {
      const { logLevel, signer: settings } = readConfig()
      const log = createLog({ level: logLevel, name: 'tollbook signer' })
      const given = requireVariables('signer', {
        SIGNER_SOCKET: settings.socketPath,
        SIGNER_JOURNAL: settings.journalFile,
        FEE_PAYER_KEYPAIR: settings.keypairFile,
        TOKEN_MINT: settings.tokenMint,
        PAYMENT_WALLET: settings.paymentWallet,
      })
      const signer = await openSigner({
        clock: systemClock,
        log,
        socketPath: given.SIGNER_SOCKET,
        journalFile: given.SIGNER_JOURNAL,
        key: await readSigningKey('FEE_PAYER_KEYPAIR', given.FEE_PAYER_KEYPAIR),
        terms: {
          mint: assertPresent(readAddress(given.TOKEN_MINT), 'TOKEN_MINT is an address'),
          paymentWallet: assertPresent(readAddress(given.PAYMENT_WALLET), 'PAYMENT_WALLET is one'),
        },
        limits: settings.limits,
      })
      process.stdout.write(`signing as ${signer.address}\n`)
      const parentGone = new AbortController()
      if (untilStdinEnds) process.stdin.resume().once('end', () => parentGone.abort())
      await untilStopped(parentGone.signal)
      await signer.close()
      process.exit(0)
    })
}
