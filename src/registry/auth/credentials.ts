// Credentials pass from a source to the token service or the registry only: never into logs or answers.

export type Credential =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'identity'; readonly token: string }
  | { readonly kind: 'bearer'; readonly token: string }

export const anonymous: Credential = { kind: 'anonymous' }

export interface CredentialSource {
  /**
   * Undefined if this source has none for the host. Rejects with a RegistryError `credentials` if an entry cannot be
   * read, because falling back to anonymous would turn our mistake into "image not found".
   */
  find(host: string, repository: string): Promise<Credential | undefined>
}

/** Returns the first source's match, or anonymous. */
export async function findCredential(
  sources: readonly CredentialSource[],
  host: string,
  repository: string,
): Promise<Credential> {
  for (const source of sources) {
    const credential = await source.find(host, repository)
    if (credential) return credential
  }
  return anonymous
}

export function fixedCredentials(byHost: Readonly<Record<string, Credential>>): CredentialSource {
  const known = new Map(Object.entries(byHost).map(([host, value]) => [host.toLowerCase(), value]))
  return { find: async (host) => known.get(host.toLowerCase()) }
}
