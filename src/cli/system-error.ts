const systemErrorTexts: Readonly<Record<string, string>> = {
  EACCES: 'you may not open it',
  EADDRINUSE: 'another program listens there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was cut off',
  EEXIST: 'it exists already',
  EISDIR: 'it is a directory, and a file is needed',
  ELOOP: 'its symbolic links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'there is no such file or directory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is not a directory',
  ENOTEMPTY: 'the directory is not empty',
  ENOTFOUND: 'there is no such host',
  EPERM: 'you may not do that',
  EROFS: 'the disk can only be read',
  ETIMEDOUT: 'it did not answer in time',
}

/** Undefined for other errors. */
export function formatSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const meaning = systemErrorTexts[error.code]
  // Our own errors may have codes too.
  if (meaning === undefined || !('syscall' in error) || typeof error.syscall !== 'string') return undefined
  if (error.syscall.startsWith('spawn') && error.code === 'ENOENT')
    return `${error.syscall.slice('spawn '.length) || 'a program'} is needed, and is not installed`
  const { path, address, hostname, port } = error as Error & {
    readonly path?: string
    readonly address?: string
    readonly hostname?: string
    readonly port?: number
  }
  const host = hostname ?? address
  const subject = path ?? (host === undefined || port === undefined ? host : `${host}:${port}`)
  return subject === undefined ? meaning : `${subject}: ${meaning}`
}
