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

/** A public half that belongs to another key would be published, and no receipt would verify. */
function isKeyPair({ kty, crv, x, d }: { kty: string; crv: string; x: string; d: string }): boolean {
  try {
    const key = createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' })
    return createPublicKey(key).export({ format: 'jwk' }).x === x
  } catch {
    // Not 32 bytes each.
    return false
  }
}

/** The key that signs receipts. Undefined: local mode makes one. */
export const signingKey = z
  .string()
  .transform((value, context): unknown => {
    try {
      return JSON.parse(value)
    } catch {
      // The parser's message is left out, because it quotes the secret.
      context.addIssue(keyExpected)
      return z.NEVER
    }
  })
  .pipe(receiptSigningKey)
  .optional()

// C2SP recommends a URL without its scheme; a signed note separates the name with spaces and ends it with a plus sign.
const keyName = z
  .string()
  .regex(
    /^(?=.{1,200}$)[A-Za-z0-9][A-Za-z0-9._~:-]*(?:\/[A-Za-z0-9._~-]+)*$/,
    'must be a name such as example.com/ledger: a URL without its scheme, of 200 characters at most',
  )
  .optional()

/** The signed checkpoints of the ledger. */
export const sealConfig = z.object({
  /** The name of the log in its checkpoints. Undefined: `tollbook/` and the payment wallet. */
  origin: variable('LEDGER_ORIGIN', keyName),
  /** A file outside the database that holds the newest checkpoint. Undefined: none, or one in the home of local mode. */
  checkpointFile: variable('CHECKPOINT_FILE', filePath),
  /** Node of `tollbook anchor`; the service does not read it. Undefined: the option `--rpc-url`, or local mode. */
  anchorRpcUrl: variable('ANCHOR_RPC_URL', httpUrl),
  /** True: anyone may read the events, not only their hashes. */
  entriesArePublic: variable(
    'LEDGER_ENTRIES',
    z
      .enum(['closed', 'public'], 'must be closed or public')
      .default('closed')
      .transform((value) => value === 'public'),
  ),
})

export type SealConfig = z.infer<typeof sealConfig>
