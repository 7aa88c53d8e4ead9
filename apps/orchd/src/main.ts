process.stdout.write('orchd 0.1.0\n');
