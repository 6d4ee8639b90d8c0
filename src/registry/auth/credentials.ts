// What we know about ourselves towards registries: lookups by exact host. Credentials are values that pass from
// a source to the token service or the registry and nowhere else: never logged, never part of an answer.

export type Credential =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  /** An OAuth2 refresh token, exchanged at the token service. */
  | { readonly kind: 'identity'; readonly token: string }
  /** A ready access token. */
  | { readonly kind: 'bearer'; readonly token: string }

export const anonymous: Credential = { kind: 'anonymous' }

/** Somewhere credentials are found. */
export interface CredentialSource {
  /**
   * The credential for a repository, or undefined when this source has none for its host.
   * Rejects with a RegistryError `credentials` when there is an entry that cannot be read: falling back to
   * anonymous would turn our mistake into "image not found".
   */
  find(host: string, repository: string): Promise<Credential | undefined>
}

/** The first source that has something wins; none is anonymous. */
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

/** Credentials given outright, by host (`docker.io`, `quay.io`, `registry.example:5000`). */
export function fixedCredentials(byHost: Readonly<Record<string, Credential>>): CredentialSource {
  const known = new Map(Object.entries(byHost).map(([host, value]) => [host.toLowerCase(), value]))
  return { find: async (host) => known.get(host.toLowerCase()) }
}
