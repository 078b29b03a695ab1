import { z } from 'zod'
import { whole } from './variables.ts'

/** What local mode starts where the operator has no database or no chain. */
export interface LocalSettings {
  /** The folder with its state and keys. */
  readonly home: string
  /** 0: a free port. */
  readonly postgresPort: number
  /** 0: a free port. */
  readonly chainPort: number
  readonly commitment: 'confirmed' | 'finalized'
}

const portNumber = whole(0, 65_535, 0)

export const localVariables = {
  TOLLBOOK_HOME: z.string().min(1, 'must be a folder').default('.tollbook'),
  LOCAL_POSTGRES_PORT: portNumber,
  LOCAL_CHAIN_PORT: portNumber,
}
