import { silentLog } from '../../src/machine/log.ts'
import { openSignatureStore, type SignatureStore } from '../../src/store/signatureStore.ts'
import { afterFile } from './afterFile.ts'
import { makeMemberLogin } from './memberLogin.ts'

/** The signer's journal under a login with the rights of `tollbook_signer` alone, closed after the file. */
export async function openTestSignatures({ adminUrl }: { readonly adminUrl: string }): Promise<SignatureStore> {
  const store = await openSignatureStore({
    databaseUrl: await makeMemberLogin(adminUrl, 'tollbook_signer'),
    log: silentLog,
  })
  afterFile(() => store.close())
  return store
}
