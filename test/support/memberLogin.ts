import { newId, randomToken } from '@tollbook/core/id'
import { afterFile } from './afterFile.ts'
import { withAdminSession } from './adminSession.ts'

/** A login that is a member of these group roles and of nothing else, dropped after the test file. */
export async function makeMemberLogin(adminUrl: string, ...groups: readonly string[]): Promise<string> {
  const [role, password] = [`member_${newId('instance')}`.toLowerCase(), randomToken()]
  await withAdminSession(adminUrl, async (admin) => {
    await admin.query(`create role ${admin.escapeIdentifier(role)} login password ${admin.escapeLiteral(password)}`)
    for (const group of groups)
      await admin.query(`grant ${admin.escapeIdentifier(group)} to ${admin.escapeIdentifier(role)}`)
  })
  afterFile(() =>
    withAdminSession(adminUrl, (admin) => admin.query(`drop role ${admin.escapeIdentifier(role)}`)).then(
      () => undefined,
    ),
  )
  const url = new URL(adminUrl)
  url.username = role
  url.password = password
  return url.href
}
