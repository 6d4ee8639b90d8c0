#!/usr/bin/env node
// What `npx catalog-bot` runs: the compiled command line in a published package, the sources in a checkout.
import { existsSync } from 'node:fs'

const compiled = new URL('../dist/cli.js', import.meta.url)
await import(existsSync(compiled) ? compiled.href : new URL('../src/cli.ts', import.meta.url).href)
