import { createPrivateKey, createPublicKey } from 'node:crypto'
import { z } from 'zod'
import { filePath, httpUrl, variable } from './variables.ts'

const keyExpected = 'must be a private Ed25519 key as a JWK: make one with `tollbook key new`'
const receiptSigningKey = z
  .object(
    {
      kty: z.literal('OKP', keyExpected),
      crv: z.literal('Ed25519', keyExpected),
      x: z.string(keyExpected),
      d: z.string(keyExpected),
      kid: z.string().exactOptional(),
    },
    { error: keyExpected },
  )
  .refine(isKeyPair, keyExpected)

/** Otherwise the wrong public key would be published, and no receipt would verify. */
function isKeyPair({ kty, crv, x, d }: { kty: string; crv: string; x: string; d: string }): boolean {
  try {
    const key = createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' })
    return createPublicKey(key).export({ format: 'jwk' }).x === x
  } catch {
    // Node throws if `x` or `d` does not have 32 bytes.
    return false
  }
}

/** The key that signs receipts. Undefined: local mode creates one. */
export const signingKey = z
  .string()
  .transform((value, context): unknown => {
    try {
      return JSON.parse(value)
    } catch {
      // Omit the parser's message, because it quotes the secret.
      context.addIssue(keyExpected)
      return z.NEVER
    }
  })
  .pipe(receiptSigningKey)
  .optional()

// C2SP recommends a URL without its scheme. A signed note puts the name between spaces, and a verifier key ends the
// name with a plus sign.
const keyName = z
  .string()
  .regex(
    /^(?=.{1,200}$)[A-Za-z0-9][A-Za-z0-9._~:-]*(?:\/[A-Za-z0-9._~-]+)*$/,
    'must be a name such as example.com/ledger: a URL without its scheme, of 200 characters at most',
  )
  .optional()

export const sealConfig = z.object({
  /** Name of the log in its checkpoints. Undefined: `tollbook/` and the payment wallet. */
  origin: variable('LEDGER_ORIGIN', keyName),
  /** A file outside the database with the newest checkpoint. Undefined: no file, or in local mode one in its home. */
  checkpointFile: variable('CHECKPOINT_FILE', filePath),
  /** Node for `tollbook anchor`, which the service does not read. Undefined: the option `--rpc-url`, or local mode. */
  anchorRpcUrl: variable('ANCHOR_RPC_URL', httpUrl),
  /** True: anyone can read the events. False: anyone can read only their hashes. */
  entriesArePublic: variable(
    'LEDGER_ENTRIES',
    z
      .enum(['closed', 'public'], 'must be closed or public')
      .default('closed')
      .transform((value) => value === 'public'),
  ),
})

export type SealConfig = z.infer<typeof sealConfig>
