// React chooses its build while it is loaded.
process.env['NODE_ENV'] = 'production'
const { describeRoot } = await import('./_root-suite.tsx')

describeRoot('production')
