import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readVerifierKey } from '@tollbook/core/checkpoint'
import { assertPresent } from '@tollbook/core/assert'
import { openReceiptFixture } from '../../client/support/testReceipt.ts'
import { type Finding, look } from './finding.ts'
import { type ForeignLog, leafOf } from './foreignLog.ts'

const program = fileURLToPath(new URL('../../../src/cli/tollbook.js', import.meta.url))
const validExitCode = 0
const invalidExitCode = 9

/** `tollbook verify` on a receipt whose leaf is in the log of Go, with proof, checkpoint and key of Go. */
export async function verifyForeign(log: ForeignLog, directory: string): Promise<Finding> {
  const { name, publicKey } = assertPresent(readVerifierKey(log.verifierKey), 'the verifier key of Go')
  const [x, d] = [Buffer.from(publicKey).toString('base64url'), log.signingSeed.toString('base64url')]
  const receipts = await openReceiptFixture({ kty: 'OKP', crv: 'Ed25519', x, d })
  const [claim, other] = log.inclusions.filter(({ path }) => path.length > 10)
  const receiptOf = async (claim: ForeignLog['inclusions'][number]) =>
    receipts.sign({ position: claim.index + 1, leafHash: Buffer.from(leafOf(claim)).toString('hex') })
  const proofOf = ({ index, size, path }: ForeignLog['inclusions'][number]) => ({
    position: index + 1,
    path: path.map((hash) => hash.toString('base64')),
    checkpoint: log.trees.find((tree) => tree.size === size)?.note,
  })
  const [own, foreign] = [assertPresent(claim, 'a long path'), assertPresent(other, 'another long path')]
  const stranger = await openReceiptFixture()
  const file = async (file: string, content: unknown) => {
    await writeFile(join(directory, file), JSON.stringify(content))
    return join(directory, file)
  }
  const [receipt, proof, keys] = [
    await file('receipt.json', await receiptOf(own)),
    await file('proof.json', proofOf(own)),
    await file('keys.json', receipts.keys),
  ]
  const cases: readonly (readonly [exitCode: number, words: readonly string[]])[] = [
    [validExitCode, [receipt, '--proof', proof, '--key', keys, '--origin', name]],
    [invalidExitCode, [receipt, '--proof', proof, '--key', keys, '--origin', 'go.example/other']],
    [invalidExitCode, [receipt, '--proof', await file('other.json', proofOf(foreign)), '--key', keys]],
    [
      invalidExitCode,
      [
        receipt,
        '--proof',
        await file('short.json', { ...proofOf(own), path: proofOf(own).path.slice(1) }),
        '--key',
        keys,
      ],
    ],
    [invalidExitCode, [receipt, '--proof', proof, '--key', await file('stranger.json', stranger.keys)]],
  ]
  return look(
    'calls of `tollbook verify` with a proof and a checkpoint of Go, one taken, the others refused',
    cases,
    ([exitCode, words]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'verify', ...words], {
        encoding: 'utf8',
      })
      return status === exitCode ? undefined : `${status} and not ${exitCode}: ${stdout}${stderr}`
    },
  )
}
