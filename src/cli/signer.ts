import { Command } from 'commander'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { readConfig } from '../config.ts'
import { createLog } from '../machine/log.ts'
import { signingTerms } from '../signer/feePayerSigner.ts'
import { openSigner } from '../signer/openSigner.ts'
import { openSignatureStore } from '../store/signatureStore.ts'
import { readSigningKey, requireVariables } from './signingKey.ts'
import { closeWhenStopped, endWithParent } from './closeWhenStopped.ts'

const help = `
Configured by environment: SIGNER_SOCKET, or SIGNER_LISTEN with SIGNER_TLS_CERT, SIGNER_TLS_KEY and SIGNER_TLS_CA;
SIGNER_DATABASE_URL, FEE_PAYER_KEYPAIR, TOKEN_MINT, CURRENCIES, PAYMENT_WALLET, SIGNER_FORMER_WALLET, TAB_WALLET and the budgets
SIGNER_LAMPORTS_PER_DAY and SIGNER_LAMPORTS_PER_WALLET_AND_DAY; docs/x402.md explains them.`

// Maximum number of lamports that the signer pays per payment. A payment from a standard client costs 10,001 lamports.
const lamportsPerPaymentMax = 20_000n

/**
 * The signer is a separate process, because the service parses what strangers send and must not hold a key that pays
 * (decision 0032).
 */
export function signerCommand(): Command {
  return new Command('signer')
    .description(
      'sign as the fee payer of x402 and MPP payments, on a Unix socket or over mutual TLS, within budgets in lamports',
    )
    .option('--until-stdin-ends', 'stop when stdin ends, so that the signer ends with the process that started it')
    .addHelpText('after', help)
    .action(async (flags: { readonly untilStdinEnds?: boolean }) => {
      const { logLevel, signer: config } = readConfig()
      const log = createLog({ level: logLevel, name: 'tollbook signer' })
      const { place } = config
      const given = requireVariables('signer', {
        'SIGNER_SOCKET or SIGNER_LISTEN': place === undefined ? undefined : 'set',
        SIGNER_DATABASE_URL: config.databaseUrl,
        FEE_PAYER_KEYPAIR: config.keypairFile,
        TOKEN_MINT: config.tokenMint,
        PAYMENT_WALLET: config.paymentWallet,
      })
      const journal = await openSignatureStore({ databaseUrl: given.SIGNER_DATABASE_URL, log })
      const signer = await openSigner({
        clock: systemClock,
        log,
        address: assertPresent(place, 'the signer listens somewhere'),
        journal,
        key: await readSigningKey('FEE_PAYER_KEYPAIR', given.FEE_PAYER_KEYPAIR),
        terms: signingTerms({
          mint: assertPresent(readAddress(given.TOKEN_MINT), 'TOKEN_MINT is an address'),
          paymentWallet: assertPresent(readAddress(given.PAYMENT_WALLET), 'PAYMENT_WALLET is one'),
          currencies: config.currencies,
          // Payments to the former wallet are signed during its overlap, and deposits go to the wallet for tabs, so
          // both are permitted receivers.
          others: [config.formerWallet, config.tabWallet].flatMap((wallet) => readAddress(wallet ?? '') ?? []),
        }),
        limits: { ...config.limits, perPaymentLamports: lamportsPerPaymentMax },
      })
      process.stdout.write(`signing as ${signer.address}\n`)
      await closeWhenStopped({
        ...endWithParent(flags.untilStdinEnds === true, log),
        async close() {
          await signer.close()
          await journal.close()
        },
      })
      process.exit(0)
    })
}
