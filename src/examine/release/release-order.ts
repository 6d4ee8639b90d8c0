// What passes between the App and the process that works out a release: plain values, that can be copied.
import type { BundleStatement } from '../../bundle/render/compare-with-image.ts'
import type { TreeSha } from '../../change/ids.ts'
import type { Config } from '../../config/config.ts'
import type { GitErrorCode } from '../../git/git-error.ts'
import type { Line } from '../../messages/describe-change.ts'
import type { WrittenFile } from '../../ports/forge.ts'
import type { LookBudget } from '../looks/look-budget.ts'

/** One bundle directory that is merged, and where it shall be released. */
export interface ReleaseOrder {
  /** The folder of the repository's mirror, which has the tree. */
  readonly mirror: string
  /** Of the base branch's tip. */
  readonly tree: TreeSha
  /** The package's directory below `operators/`. */
  readonly directory: string
  /** The name of the bundle's directory. */
  readonly version: string
  /** Absent: not known yet. */
  readonly image?: BundleImage
  /** Of the base branch's tip: what the catalogs that result must be. */
  readonly config: Pick<Config, 'rules' | 'opm'>
  readonly budget: LookBudget
}

export interface BundleImage {
  /** By digest. */
  readonly reference: string
  /** Absent where opm cannot read it as a bundle. */
  readonly content?: BundleStatement | undefined
}

/** What there is to do for a bundle. Reasons are clauses for people, without a full stop. */
export type ReleaseStanding =
  /** Its catalogs have it. */
  | { readonly kind: 'done' }
  /** Nobody wants it in catalogs. */
  | { readonly kind: 'unwanted'; readonly why: string }
  /** Somebody must mend something first. `isImage`: the image, which may be pushed anew. */
  | { readonly kind: 'refused'; readonly why: string; readonly isImage?: true }
  /** It is wanted, and its image is not known. */
  | { readonly kind: 'awaited' }
  | ({ readonly kind: 'ready' } & ReadyRelease)

export interface ReadyRelease {
  /** The bundle's name, and that of its package. */
  readonly name: string
  readonly package: string
  /** Whether its settings let a pull request that releases it be merged without a person. */
  readonly isMergedByItself: boolean
  /** At least one. */
  readonly files: readonly WrittenFile[]
  /** What they do, in catalog words. */
  readonly lines: readonly Line[]
  readonly graph?: string
}

export type ReleaseAnswer =
  | ReleaseStanding
  | {
      readonly kind: 'git-error'
      readonly code: GitErrorCode
      readonly message: string
      readonly retryable: boolean
    }
