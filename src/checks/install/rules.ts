// Every rule of the install check about pull requests. Made by `npm run rule-pages`: edit the rules, not this list.
import type { AnyFindingRule } from '@catalog-bot/findings/rule'
import { doesNotInstall } from './rules/does-not-install.ts'

/** The rules of ./rules, sorted by id. */
export const installRules: readonly AnyFindingRule[] = [doesNotInstall]
