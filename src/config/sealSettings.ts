import { z } from 'zod'
import { httpUrl } from './variables.ts'

/** The signed checkpoints of the ledger. */
export interface SealSettings {
  /** The name of the log in its checkpoints. Undefined: `tollbook/` and the payment wallet. */
  readonly origin: string | undefined
  /** A file outside the database that holds the newest checkpoint. Undefined: none, or one in the home of local mode. */
  readonly checkpointFile: string | undefined
  /** Node of `tollbook anchor`; the service does not read it. Undefined: the option `--rpc-url`, or local mode. */
  readonly anchorRpcUrl: string | undefined
  /** True: anyone may read the events, not only their hashes. */
  readonly entriesArePublic: boolean
}

export type ReceiptSigningKey = z.infer<typeof receiptSigningKey>

const keyExpected = 'must be a private Ed25519 key as a JWK: make one with `tollbook key new`'
const receiptSigningKey = z.object(
  { kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), d: z.string(), kid: z.string().exactOptional() },
  { error: keyExpected },
)

const signingKey = z
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

// C2SP signed-note separates a name with spaces and ends it with a plus sign.
const keyName = z
  .string()
  .regex(/^[^\p{Z}\p{C}+]{1,200}$/u, 'must be a name such as example.com/ledger, without spaces and plus signs')
  .optional()

export const sealVariables = {
  RECEIPT_SIGNING_KEY: signingKey,
  LEDGER_ORIGIN: keyName,
  LEDGER_ENTRIES: z.enum(['closed', 'public'], 'must be closed or public').default('closed'),
  CHECKPOINT_FILE: z.string().optional(),
  ANCHOR_RPC_URL: httpUrl,
}

export function sealSettingsOf(env: z.infer<z.ZodObject<typeof sealVariables>>): SealSettings {
  return {
    origin: env.LEDGER_ORIGIN,
    checkpointFile: env.CHECKPOINT_FILE,
    anchorRpcUrl: env.ANCHOR_RPC_URL,
    entriesArePublic: env.LEDGER_ENTRIES === 'public',
  }
}
