import type { RepositoryName } from '../pull-request/snapshot.ts'

/** Throws if the text isn't `OWNER/NAME`. */
export function parseRepository(text: string): RepositoryName {
  const [, owner, name] = /^([A-Za-z0-9._-]+)\/([A-Za-z0-9._-]+)$/.exec(text) ?? []
  if (owner === undefined || name === undefined)
    throw new Error(`the repository must have the form OWNER/NAME, but is ${JSON.stringify(text)}`)
  return { owner, name }
}
