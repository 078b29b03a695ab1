import { getAccount } from '@solana/spl-token'
import { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { faucetCommand } from '../../src/cli/faucet.ts'
import { openTokenChain, type TokenChain } from '../client/support/tokenChain.ts'
import { openTerminal, type Terminal } from './support/terminal.ts'

async function openAt(token: TokenChain, change: object = {}): Promise<Terminal> {
  const terminal = await openTerminal()
  await terminal.writeFile('keys/mint-authority.json', [...token.mintAuthority.secretKey])
  await terminal.writeFile('local.json', {
    baseUrl: 'http://127.0.0.1:3402',
    rpcUrl: token.chain.rpcUrl,
    tokenMint: token.mint.toBase58(),
    paymentWallet: token.paymentWallet.toBase58(),
    mintAuthorityKeypairPath: 'keys/mint-authority.json',
    ...change,
  })
  return terminal
}

test.each([
  ['SPL Token', TOKEN_PROGRAM_ID],
  ['Token-2022', TOKEN_2022_PROGRAM_ID],
])('gives a new wallet tokens of %s and SOL, twice if asked twice', async (_name, program) => {
  const token = await openTokenChain({ program })
  const terminal = await openAt(token)
  const address = Keypair.generate().publicKey
  const runs = [
    await terminal.run(faucetCommand, address.toBase58(), '12.5', '--sol', '0.25'),
    await terminal.run(faucetCommand, address.toBase58(), '12.5', '--sol', '0.25'),
  ]
  expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ])
  const { tokenAccount, tokens, sol } = JSON.parse(runs[0]?.stdout ?? '')
  expect([tokens, sol]).toEqual(['12.5', '0.25'])
  const account = await getAccount(token.connection, new PublicKey(tokenAccount), 'confirmed', program)
  expect(account.amount).toBe(25_000_000n)
  expect(await token.connection.getBalance(address)).toBe(500_000_000)
})

test('rejects impossible amounts, names the argument and sends nothing', async () => {
  const token = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  const terminal = await openAt(token)
  const address = Keypair.generate().publicKey.toBase58()
  const mistakes: [string, string[]][] = [
    ['ADDRESS', ['nobody', '1']],
    ['is not a wallet: the account belongs to the program', [SystemProgram.programId.toBase58(), '1']],
    ['is not a wallet: the account belongs to the program', [TOKEN_PROGRAM_ID.toBase58(), '1']],
    ['TOKENS', [address, '0.0000001']],
    ['TOKENS: 18446744073709.551616 is more than a token account holds', [address, '18446744073709.551616']],
    ['--sol: 1000000.5 is more than 1000000 SOL', [address, '1', '--sol', '1000000.5']],
    ['TOKENS', [address, 'many']],
    ['--sol', [address, '1', '--sol', '-1']],
    ['missing: <tokens>', [address]],
  ]
  for (const [expected, words] of mistakes) {
    const { exitCode, stderr } = await terminal.run(faucetCommand, ...words)
    expect([exitCode, words]).toEqual([2, words])
    expect(stderr).toContain(expected)
  }
  expect(await token.connection.getBalance(new PublicKey(address))).toBe(0)
})

test('works on a chain of this machine only', async () => {
  const token = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  for (const rpcUrl of ['https://node.example', 'http://10.0.0.7:8899', 'http://localhost.example:8899']) {
    const terminal = await openAt(token, { rpcUrl })
    const { exitCode, stderr } = await terminal.run(faucetCommand, Keypair.generate().publicKey.toBase58(), '1')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('this machine only')
  }
})

test('says that local mode has not run here, and that its chain does not answer', async () => {
  const bare = await openTerminal()
  const address = Keypair.generate().publicKey.toBase58()
  const missing = await bare.run(faucetCommand, address, '1')
  expect([missing.exitCode, missing.stderr.includes('npm start')]).toEqual([2, true])
  const token = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  const gone = await openAt(token, { rpcUrl: 'http://127.0.0.1:1' })
  expect((await gone.run(faucetCommand, address, '1')).exitCode).toBe(7)
})
