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

/**
 * If the two parts of a key did not belong together, a wrong public key would be published, and no receipt would
 * verify.
 */
function isKeyPair({ kty, crv, x, d }: { kty: string; crv: string; x: string; d: string }): boolean {
  try {
    const key = createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' })
    return createPublicKey(key).export({ format: 'jwk' }).x === x
  } catch {
    // Treat an error as a mismatch: Node throws if `x` or `d` does not have 32 bytes.
    return false
  }
}

/** Undefined: local mode creates a key. */
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

// Name of a signing key. C2SP recommends a URL without its scheme. Spaces and plus signs are forbidden: a signed note
// puts the name between spaces, and a plus sign ends the name in a verifier key.
const keyName = z
  .string()
  .regex(
    /^(?=.{1,200}$)[A-Za-z0-9][A-Za-z0-9._~:-]*(?:\/[A-Za-z0-9._~-]+)*$/,
    'must be a name such as example.com/ledger: a URL without its scheme, of 200 characters at most',
  )
  .optional()

export const sealConfig = z.object({
  /** Name of the log in its checkpoints. Undefined: `tollbook/` and the address of the payment wallet. */
  origin: variable('LEDGER_ORIGIN', keyName),
  /**
   * File outside the database that contains the newest checkpoint. Undefined: no file. In local mode, undefined means a
   * file in the home.
   */
  checkpointFile: variable('CHECKPOINT_FILE', filePath),
  /**
   * Node URL for `tollbook anchor`, which the service does not read. Undefined: the option `--rpc-url`, or the node of
   * local mode.
   */
  anchorRpcUrl: variable('ANCHOR_RPC_URL', httpUrl),
  /** True if the events are public. False: only their hashes are public. */
  entriesArePublic: variable(
    'LEDGER_ENTRIES',
    z
      .enum(['closed', 'public'], 'must be closed or public')
      .default('closed')
      .transform((value) => value === 'public'),
  ),
})

export type SealConfig = z.infer<typeof sealConfig>
