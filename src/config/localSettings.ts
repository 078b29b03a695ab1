import { z } from 'zod'
import type { ChainSettings } from './chainSettings.ts'
import { wholeNumber } from './variables.ts'

/** Parts that local mode starts when no database or no chain is configured. */
export interface LocalSettings {
  /** The folder with its state and keys. */
  readonly home: string
  /** 0: a free port. */
  readonly postgresPort: number
  /** 0: a free port. */
  readonly chainPort: number
  readonly commitment: ChainSettings['commitment']
}

const portNumber = wholeNumber(0, 65_535, 0)

export const localVariables = {
  TOLLBOOK_HOME: z.string().min(1, 'must be a folder').default('.tollbook'),
  LOCAL_POSTGRES_PORT: portNumber,
  LOCAL_CHAIN_PORT: portNumber,
}
