/** Folders that processes share. For the packages of this repository only: this interface may change without notice. */
export { type FolderLock, takeFolderLock } from './folderLock.ts'
export { makeFolder } from './makeFolder.ts'
