import pg from 'pg'

export interface DatabaseLogins {
  readonly ownerPassword: string
  readonly apiPassword: string
  readonly burnPassword: string
  readonly signerPassword: string
}

export const databaseName = 'tollbook'
export const ownerRole = 'tollbook_owner'
export const apiRole = 'tollbook_api'
export const burnRole = 'tollbook_burn'
export const signerRole = 'tollbook_fee_payer'

/**
 * Creates the same roles as an operator creates by hand (docs/operations.md). The owner runs the migrations, and the
 * API also deletes old quotes.
 */
export async function createServiceDatabase(adminUrl: string, logins: DatabaseLogins): Promise<void> {
  await withClient(adminUrl, async (client) => {
    await createRole(client, { role: ownerRole, password: logins.ownerPassword, options: 'login createrole' })
    await createRole(client, { role: apiRole, password: logins.apiPassword, options: 'login' })
    await createRole(client, { role: burnRole, password: logins.burnPassword, options: 'login' })
    await createRole(client, { role: signerRole, password: logins.signerPassword, options: 'login' })
    const { rowCount } = await client.query('select from pg_database where datname = $1', [databaseName])
    if (rowCount === 0) await client.query(`create database ${databaseName} owner ${ownerRole}`)
  })
}

/** Call it after the migrations, which create the group roles. */
export async function admitLogins(adminUrl: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    await client.query(`grant tollbook_service, tollbook_retention to ${apiRole}`)
    await client.query(`grant tollbook_burner to ${burnRole}`)
    await client.query(`grant tollbook_signer to ${signerRole}`)
  })
}

interface Role {
  readonly role: string
  readonly password: string
  readonly options: string
}

async function createRole(client: pg.Client, { role, password, options }: Role): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role])
  const verb = rowCount === 0 ? 'create' : 'alter'
  // Put the password into the text, because DDL takes no parameters. It is a generated base64url token, and is quoted
  // anyway.
  await client.query(`${verb} role ${role} ${options} password ${client.escapeLiteral(password)}`)
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'tollbook local mode' })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
