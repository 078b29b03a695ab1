import { afterFile } from './afterFile.ts'
import { withAdminSession } from './adminSession.ts'
import type { TestDatabase } from './testDatabase.ts'

/** The URL of a login that is a member of one role and of no other, as docs/operations.md tells operators to create one. */
export async function createMemberLogin(
  { adminUrl, serviceUrl }: Pick<TestDatabase, 'adminUrl' | 'serviceUrl'>,
  role: string,
): Promise<string> {
  const name = await withAdminSession(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ name: string }>(`select 'k_' || md5(random()::text) as name`)
    const name = String(rows[0]?.name)
    await admin.query(`create role ${name} login password '${name}' in role ${role}`)
    return name
  })
  afterFile(() => withAdminSession(adminUrl, async (admin) => void (await admin.query(`drop role ${name}`))))
  const url = new URL(serviceUrl)
  url.username = name
  url.password = name
  return url.href
}
