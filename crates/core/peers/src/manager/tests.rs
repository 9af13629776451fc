mod operations;
mod promises;
mod world;
