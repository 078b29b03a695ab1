import { TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { faucetCommand } from '../../src/cli/faucet.ts'
import { payCommand } from '../../src/cli/pay.ts'
import { openTokenChain } from '../client/support/tokenChain.ts'
import { openTestService } from '../support/testService.ts'
import { openTerminal } from './support/terminal.ts'

test('a new wallet is funded by the faucet and buys from the real service in each form, with verified receipts', async () => {
  const token = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  const addresses = { TOKEN_MINT: token.mint.toBase58(), PAYMENT_WALLET: token.paymentWallet.toBase58() }
  const service = await openTestService({ env: { SOLANA_RPC_URLS: token.chain.rpcUrl, ...addresses } })
  const jwks = (await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json()) as { keys: object[] }
  const terminal = await openTerminal()
  const wallet = Keypair.generate()
  const keypairPath = await terminal.writeFile('keys/new.json', [...wallet.secretKey])
  await terminal.writeFile('keys/mint-authority.json', [...token.mintAuthority.secretKey])
  await terminal.writeFile('local.json', {
    baseUrl: service.baseUrl,
    rpcUrl: token.chain.rpcUrl,
    tokenMint: addresses.TOKEN_MINT,
    paymentWallet: addresses.PAYMENT_WALLET,
    mintAuthorityKeypairPath: 'keys/mint-authority.json',
    receiptKey: jwks.keys[0],
  })

  const words = ['POST', '/api/tools/qrcode', '--json', '{"data":"hello"}', '--wallet', keypairPath]
  const poor = await terminal.run(payCommand, ...words, '--form', 'signature')
  expect([poor.exitCode, poor.stderr]).toEqual([10, expect.stringContaining('you have 0 of 5 ')])
  expect(await terminal.files('payments')).toEqual([])

  const gifts = [token.paymentWallet, wallet.publicKey].map((address) => [address.toBase58(), '20', '--sol', '0.1'])
  for (const gift of gifts) expect((await terminal.run(faucetCommand, ...gift)).exitCode).toBe(0)
  for (const form of ['bound', 'transaction', 'signature']) {
    const { exitCode, stdout } = await terminal.run(payCommand, ...words, '--form', form)
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      data: { originalData: 'hello' },
      receipt: { wallet: wallet.publicKey.toBase58(), requiredBaseUnits: '5000000' },
      receiptCheck: 'verified',
    })
  }
})
