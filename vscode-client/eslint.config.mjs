import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "*.mjs"] },
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: ["tsconfig.json", "view/tsconfig.json"] } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  // The promise of node's `test` is the runner's to wait for.
  { files: ["test/**"], rules: { "@typescript-eslint/no-floating-promises": "off" } },
);
