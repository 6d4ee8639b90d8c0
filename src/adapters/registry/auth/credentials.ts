// Credentials go from a source only to the token service or the registry, never into logs or answers.

export type RegistryCredential =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'identity'; readonly token: string }
  | { readonly kind: 'bearer'; readonly token: string }

export const anonymousCredential: RegistryCredential = { kind: 'anonymous' }

export interface CredentialSource {
  /**
   * Undefined if this source has none for the host. Rejects with a RegistryError `credentials` if an entry cannot be
   * read, because falling back to anonymous would turn a configuration error into "image not found".
   */
  find(host: string, repository: string): Promise<RegistryCredential | undefined>
}

/** Returns the first source's match, or anonymous. */
export async function findCredential(
  sources: readonly CredentialSource[],
  host: string,
  repository: string,
): Promise<RegistryCredential> {
  for (const source of sources) {
    const credential = await source.find(host, repository)
    if (credential) return credential
  }
  return anonymousCredential
}

export function createStaticCredentialSource(
  byHost: Readonly<Record<string, RegistryCredential>>,
): CredentialSource {
  const known = new Map(Object.entries(byHost).map(([host, value]) => [host.toLowerCase(), value]))
  return { find: async (host) => known.get(host.toLowerCase()) }
}
