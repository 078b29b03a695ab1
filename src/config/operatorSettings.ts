import { postgresUrl } from './variables.ts'

/** For the commands that change settings of the ledger: a login of `tollbook_operator`, never the service's. */
export const operatorVariables = { OPERATOR_DATABASE_URL: postgresUrl }
